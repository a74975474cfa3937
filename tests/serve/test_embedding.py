import numpy as np
import pytest
from firstpage.core.errors import InputError
from firstpage.readers import shipped
from firstpage.readers.static_encoder import MOST_TOKENS, StaticEncoder
from firstpage.serve.embedding import StaticModel, TransformerModel, load_embedder
from sentence_transformers import SentenceTransformer


@pytest.fixture(scope="module")
def transformer(bert, tmp_path_factory):
    made = tmp_path_factory.mktemp("embedder") / "model"
    SentenceTransformer(str(bert)).save_pretrained(str(made))
    return made


def vectors(model, texts):
    return np.stack(list(model.run([unit.work for unit in model.encode(texts)])))


def test_the_shipped_embedder_gives_what_the_readers_get():
    model = load_embedder(shipped.ENCODER)
    texts = ["stale cache", "", "def paint(): ..."]
    assert isinstance(model, StaticModel)
    assert np.array_equal(vectors(model, texts), StaticEncoder(shipped.ENCODER).encode(texts))
    assert np.linalg.norm(vectors(model, texts), axis=1) == pytest.approx([1, 0, 1])


def test_a_text_of_too_many_tokens_is_read_in_part_and_said_to_be():
    model = load_embedder(shipped.ENCODER)
    long, empty = model.encode(["cache " * 5 * MOST_TOKENS, ""])
    assert (long.length, long.truncated) == (MOST_TOKENS, True)
    assert (empty.length, empty.truncated) == (1, False)


def test_a_transformer_embeds_as_sentence_transformers_does(transformer):
    model = load_embedder(transformer)
    texts = ["ba do", "ku " * 2000, "re"]
    assert isinstance(model, TransformerModel)
    assert [unit.truncated for unit in model.encode(texts)] == [False, True, False]
    expected = SentenceTransformer(str(transformer)).encode(texts, normalize_embeddings=True)
    assert vectors(model, texts) == pytest.approx(expected, abs=1e-5)
    assert vectors(model, texts[:1]) == pytest.approx(expected[:1], abs=1e-5)


def test_a_folder_without_an_embedder_is_named(tmp_path):
    with pytest.raises(InputError, match="holds no embedder"):
        load_embedder(tmp_path)
    (tmp_path / "modules.json").write_text("[")
    with pytest.raises(InputError, match="cannot be read"):
        load_embedder(tmp_path)
