import numpy as np
import pytest
from firstpage.core.errors import InputError, MissingExtraError, RunError
from firstpage.train import similarity
from firstpage.train.similarity import Similarity, fingerprint

TEXTS = ["cache reload", "disk write stale", "parse token page", "cache", "query of a page"]


@pytest.fixture
def nearest(bi_encoder):
    return Similarity(bi_encoder)


def test_cosines_are_those_of_the_model(nearest, bi_encoder):
    library = pytest.importorskip("sentence_transformers")
    model = library.SentenceTransformer(str(bi_encoder))
    vectors = model.encode([*TEXTS, "the cache is stale"], normalize_embeddings=True)
    cosines = nearest.cosines("the cache is stale", TEXTS)
    assert cosines == pytest.approx(vectors[:-1] @ vectors[-1], abs=1e-3)
    assert np.argmax(cosines) == 3


def test_a_cosine_has_the_same_bits_whatever_was_asked_before(nearest, bi_encoder):
    alone = [Similarity(bi_encoder).cosines("stale cache", [text])[0] for text in TEXTS]
    nearest.cosines("another page", ["keep", *reversed(TEXTS)])
    assert nearest.cosines("stale cache", [*TEXTS, *TEXTS]).tolist() == alone * 2
    nearest.clear()
    assert nearest.cosines("stale cache", TEXTS[2:]).tolist() == alone[2:]


def test_nothing_is_near_to_no_documents(nearest):
    assert nearest.cosines("a", []).tolist() == []


def test_a_text_without_words_and_one_without_end_are_as_far_as_others(nearest):
    assert np.isfinite(nearest.cosines("", ["", "cache"])).all()
    assert np.isfinite(nearest.cosines("cache " * 20_000, ["cache"])).all()


def test_a_vector_that_is_not_finite_is_an_error(nearest, monkeypatch):
    broken = lambda texts, **_: np.full((len(texts), 32), np.nan, np.float32)  # noqa: E731
    monkeypatch.setattr(nearest._model, "encode_document", broken)
    with pytest.raises(RunError, match="not finite"):
        nearest.cosines("a", ["b"])


def test_a_folder_that_holds_no_model_is_named(tmp_path, bi_encoder):
    for folder in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match="--model"):
            fingerprint(tmp_path / "none") if folder != tmp_path else Similarity(folder)
    weights = next(bi_encoder.rglob("*.safetensors"))
    (tmp_path / "cut").mkdir()
    for file in (path for path in bi_encoder.rglob("*") if path.is_file()):
        place = tmp_path / "cut" / file.relative_to(bi_encoder)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.read_bytes()[: 100 if file == weights else None])
    with pytest.raises(InputError, match="is no model of sentence-transformers"):
        Similarity(tmp_path / "cut")
    assert fingerprint(tmp_path / "cut") != fingerprint(bi_encoder) == fingerprint(bi_encoder)


def test_what_is_not_installed_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(similarity, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    with pytest.raises(MissingExtraError, match=r"mining with a model needs .*firstpage\[train\]"):
        Similarity(tmp_path)
