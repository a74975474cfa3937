import shutil

import numpy as np
import pytest
from firstpage.core.errors import InputError
from firstpage.readers.static_encoder import MOST_TOKENS, StaticEncoder
from safetensors.numpy import load_file, save_file


def test_a_text_is_the_mean_of_its_tokens_at_length_one(encoder_folder):
    cache, stale, both = StaticEncoder(encoder_folder).encode(["cache", "stale", "stale cache"])
    np.testing.assert_allclose(both, (cache + stale) / np.sqrt(2), atol=1e-6)


def test_texts_without_tokens_are_zero_and_no_texts_are_no_rows(encoder_folder):
    encoder = StaticEncoder(encoder_folder)
    assert not encoder.encode([""]).any()
    assert encoder.encode([]).shape == (0, encoder.dimensions)


def test_what_comes_after_the_last_token_is_not_read(encoder_folder):
    encoder = StaticEncoder(encoder_folder)
    long = encoder.encode(["cache " * MOST_TOKENS + "view " * 100_000])
    np.testing.assert_allclose(long, encoder.encode(["cache"]), atol=1e-6)


def test_int8_with_scales_gives_the_same_cosines(encoder_folder):
    exact = StaticEncoder(encoder_folder).encode(["cache entries", "stale view"])
    file = encoder_folder / "model.safetensors"
    table = np.random.default_rng(1).normal(size=load_file(file)["embedding.weight"].shape).astype(np.float32)
    save_file({"embedding.weight": table}, file)
    exact = StaticEncoder(encoder_folder).encode(["cache entries", "stale view"])
    scale = np.abs(table).max(axis=1) / 127
    save_file({"embedding.weight": np.rint(table / scale[:, None]).astype(np.int8), "scale": scale}, file)
    near = StaticEncoder(encoder_folder).encode(["cache entries", "stale view"])
    np.testing.assert_allclose((exact * near).sum(axis=1), 1, atol=0.005)


def test_other_weights_have_another_hash(encoder_folder, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(encoder_folder, other)
    assert StaticEncoder(other).hash == StaticEncoder(encoder_folder).hash
    table = load_file(other / "model.safetensors")["embedding.weight"]
    save_file({"embedding.weight": table * 2}, other / "model.safetensors")
    assert StaticEncoder(other).hash != StaticEncoder(encoder_folder).hash


def damaged(tensors):
    return lambda file: save_file(tensors(load_file(file)["embedding.weight"]), file)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:-100]), "cannot be read"),
        (lambda file: file.write_bytes(b""), "cannot be read"),
        (lambda file: file.unlink(), "cannot be read"),
        (
            damaged(lambda table: {"embeddings.word_embeddings.weight": table}),
            "not those of a static embedding",
        ),
        (damaged(lambda table: {"embedding.weight": table[0]}), "not those of a static embedding"),
        (
            damaged(lambda table: {"embedding.weight": table, "scale": table[0]}),
            "not those of a static embedding",
        ),
        (damaged(lambda table: {"embedding.weight": table * np.float32(np.nan)}), "not finite"),
        (damaged(lambda table: {"embedding.weight": table[:5]}), "5 token vectors for 13 tokens"),
    ],
)
def test_damaged_weights_are_refused_by_name(encoder_folder, damage, told):
    damage(encoder_folder / "model.safetensors")
    with pytest.raises(InputError, match=told) as raised:
        StaticEncoder(encoder_folder)
    assert str(encoder_folder) in str(raised.value)


def test_a_damaged_vocabulary_is_refused_by_name(encoder_folder):
    (encoder_folder / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match="vocabulary"):
        StaticEncoder(encoder_folder)
