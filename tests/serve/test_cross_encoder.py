"""The cross-encoder of the engine on a model so small that it is made here."""

import numpy as np
import pytest
import torch
from firstpage.core.errors import InputError
from firstpage.serve.cross_encoder import CrossEncoderModel, Pair
from sentence_transformers import CrossEncoder

WORDS = ["ba", "do", "ku", "re", "mi", "fa"]


@pytest.fixture(scope="module")
def folder(bert, tmp_path_factory):
    torch.manual_seed(1)
    made = tmp_path_factory.mktemp("cross") / "model"
    CrossEncoder(str(bert), num_labels=1).save_pretrained(str(made))
    return made


@pytest.fixture(scope="module")
def model(folder):
    return CrossEncoderModel(folder, "fp32", max_length=32)


def outputs(model, pairs):
    return np.asarray(model.run([unit.work for unit in model.encode(pairs)]))


def text(words, seed=0):
    return " ".join(np.random.default_rng(seed).choice(WORDS, words))


def test_outputs_are_the_logits_that_sentence_transformers_gives(folder, model):
    pairs = [("ba do", text(words, words)) for words in (1, 5, 12, 20)]
    expected = CrossEncoder(str(folder), max_length=32).predict(pairs, activation_fn=torch.nn.Identity())
    assert outputs(model, [Pair(*pair) for pair in pairs]) == pytest.approx(expected, abs=1e-5)


def test_an_output_does_not_depend_on_what_else_is_in_the_batch(model):
    pairs = [Pair("ba do", text(words, words)) for words in range(1, 25)]
    alone = [outputs(model, [pair])[0] for pair in pairs]
    assert outputs(model, pairs) == pytest.approx(alone, abs=1e-5)


def test_what_is_too_long_is_cut_and_said_to_be(model):
    short, long, query = model.encode([Pair("ba", "do"), Pair("ba", text(90)), Pair(text(500_000), text(90))])
    assert (short.truncated, long.truncated, query.truncated) == (False, True, True)
    assert (long.length, query.length) == (32, 32)


def test_either_end_can_be_cut(model):
    words = text(60)
    right, left = Pair("ba", words, "right"), Pair("ba", words, "left")
    beginning, end = Pair("ba", text(60)[: len(words) // 2]), Pair("ba", words[len(words) // 2 :])
    assert outputs(model, [right])[0] == pytest.approx(outputs(model, [beginning])[0], abs=1e-5)
    assert outputs(model, [left])[0] == pytest.approx(
        outputs(model, [Pair("ba", end.text, "left")])[0], abs=1e-5
    )
    assert outputs(model, [right])[0] != pytest.approx(outputs(model, [left])[0], abs=1e-5)


def test_a_text_of_few_tokens_and_many_characters_is_read_whole(model):
    spaced = " " * 100_000 + "ku"
    (unit,) = model.encode([Pair("ba", spaced)])
    assert not unit.truncated
    assert outputs(model, [Pair("ba", spaced)])[0] == pytest.approx(outputs(model, [Pair("ba", "ku")])[0])


def test_mixed_directions_keep_their_places(model):
    pairs = [Pair("ba", text(60, seed), ("left", "right")[seed % 2]) for seed in range(6)]
    assert outputs(model, pairs) == pytest.approx([outputs(model, [pair])[0] for pair in pairs], abs=1e-5)


def test_with_bf16_the_outputs_are_about_the_same(folder, model):
    half = CrossEncoderModel(folder, "bf16", max_length=32)
    pairs = [Pair("ba do", text(words, words)) for words in range(1, 20)]
    assert half.precision == "bf16"
    exact, about = outputs(model, pairs), outputs(half, pairs)
    assert about == pytest.approx(exact, abs=0.02)
    assert not np.array_equal(about, exact)


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(InputError, match="holds no cross-encoder"):
        CrossEncoderModel(tmp_path / "nothing")
