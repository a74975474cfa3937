"""Real trainings of a model so small that a step takes milliseconds."""

import pytest
import torch
from firstpage.core.errors import InputError
from firstpage.train.config import CrossEncoderConfig
from firstpage.train.cross_encoder import CrossEncoder, train_cross_encoder
from safetensors.torch import load_file
from sentence_transformers import CrossEncoder as Model
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss, LambdaLoss, ListNetLoss
from torch import nn


@pytest.fixture
def configured(bert, example_files, tmp_path):
    def make(name="out", **keys):
        train, dev = example_files
        given = {
            "train": (str(train),), "dev": (str(dev),), "out": str(tmp_path / name), "base": str(bert),
            "negatives": 3, "max_length": 32, "batch_size": 8, "max_steps": 10, "checkpoint_every": 3,
            "learning_rate": 1e-3, "log_every": 1,
        }  # fmt: skip
        return CrossEncoderConfig(**given | keys)

    return make


def weights(config):
    return load_file(f"{config.out}/model/model.safetensors")


def stop_at(step):
    def progress(done, _):
        if done == step:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize(
    ("loss", "activation"), [("lambda", nn.Identity), ("listnet", nn.Identity), ("bce", nn.Sigmoid)]
)
def test_what_is_trained_is_loaded_by_the_library_alone(configured, tmp_path, loss, activation):
    config = configured(loss=loss)
    record = train_cross_encoder(config)
    model = Model(f"{config.out}/model")
    assert type(model.activation_fn) is activation
    assert model.max_seq_length == 32
    scores = model.predict([("ba do", "ba do"), ("ba do", "ku ku")])
    assert scores.shape == (2,)
    assert [step for step, _ in record["development"]] == [3, 6, 9, 10]
    assert record["after"].keys() == {"mrr@10", "top@1"}
    card = (tmp_path / "out" / "model" / "README.md").read_text()
    assert f"| loss | {loss} |" in card
    assert "pipeline_tag: text-ranking" in card
    names = [path.name for path in (tmp_path / "out" / "model").rglob("*") if path.is_file()]
    assert [name for name in names if not name.endswith((".json", ".md", ".txt", ".safetensors"))] == []


def test_each_name_is_its_loss_over_raw_outputs(configured, bert):
    for name, kind in (("lambda", LambdaLoss), ("listnet", ListNetLoss), ("bce", BinaryCrossEntropyLoss)):
        learner = CrossEncoder(configured(loss=name))
        loss = learner.loss(learner.model())
        assert type(loss) is kind
        assert type(loss.activation_fn) is nn.Identity


@pytest.mark.parametrize("loss", ["lambda", "bce"])
def test_killed_at_any_step_training_ends_with_the_same_weights(configured, loss):
    whole, broken = configured("whole", loss=loss), configured("broken", loss=loss)
    expected = train_cross_encoder(whole)
    for step in (5, 8):
        with pytest.raises(KeyboardInterrupt):
            train_cross_encoder(broken, progress=stop_at(step))
    record = train_cross_encoder(broken)
    assert weights(broken).keys() == weights(whole).keys()
    assert all(torch.equal(tensor, weights(whole)[key]) for key, tensor in weights(broken).items())
    assert [record[key] for key in ("development", "losses", "after")] == [
        expected[key] for key in ("development", "losses", "after")
    ]


def test_training_stops_where_the_figure_gets_no_better(configured):
    record = train_cross_encoder(configured(learning_rate=1e-12, patience=1, checkpoint_every=1))
    assert (record["step"], record["steps"]) == (1, 2)


def test_weights_are_fp32_under_autocast(configured, make_bert):
    config = configured(base=str(make_bert(dtype="float16")), precision="bf16", max_steps=2)
    train_cross_encoder(config)
    assert {tensor.dtype for tensor in weights(config).values()} == {torch.float32}


def test_checkpointing_computes_the_same(make_bert, configured):
    base = str(make_bert(dropout=0.0))
    losses = [
        train_cross_encoder(configured(str(on), base=base, gradient_checkpointing=on, dev=(), max_steps=3))[
            "losses"
        ]
        for on in (False, True)
    ]
    assert [loss for _, loss in losses[1]] == pytest.approx([loss for _, loss in losses[0]], rel=1e-4)


def test_the_loss_falls(configured):
    record = train_cross_encoder(
        configured(
            loss="listnet", max_steps=60, checkpoint_every=30, learning_rate=3e-3, base=configured().base
        )
    )
    first, last = record["losses"][0][1], record["losses"][-1][1]
    assert last < first


def test_a_base_with_other_outputs_is_named(configured, bert, tmp_path):
    from transformers import BertForSequenceClassification

    BertForSequenceClassification.from_pretrained(bert, num_labels=3).save_pretrained(tmp_path / "three")
    with pytest.raises(InputError, match=r"base: .*three' cannot be loaded"):
        train_cross_encoder(configured(base=str(tmp_path / "three")))
