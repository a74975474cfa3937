"""The script for a GPU, tried on the CPU with a tiny configuration."""

import json
import math

import pytest
import yaml
from click.testing import CliRunner
from firstpage.core.errors import InputError
from firstpage.scripts.gpu_check import check, command
from firstpage.train.config import BiEncoderConfig, CrossEncoderConfig
from firstpage.train.memory import training_memory
from firstpage.train.meter import PEAKS, peak_tflops


@pytest.fixture
def keys(bert, example_files, tmp_path):
    train, dev = map(str, example_files)
    return {
        "train": [train], "dev": [dev], "out": str(tmp_path / "out"), "base": str(bert), "batch_size": 8,
        "max_steps": 6, "max_length": 32, "log_every": 3, "patience": 1,
    }  # fmt: skip


def of(kind, keys, **more):
    given = keys | more
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in given.items()})


def test_a_log_tells_speed_memory_and_where_it_comes_from(keys, tmp_path):
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(keys | {"precision": "bf16"}))
    out = tmp_path / "log" / "bi.json"
    options = ["--config", str(tmp_path / "config.yaml"), "--out", str(out), "--peak-tflops", "0.1"]
    done = CliRunner().invoke(command, ["bi-encoder", *options], catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "examples and" in done.stdout
    log = json.loads(out.read_text())
    assert log["steps"] == 4  # two of six warm it up
    # A query, a positive and a negative; six words each, and a start and an end.
    assert log["sequences_per_second"] == pytest.approx(3 * log["examples_per_second"], rel=1e-3)
    assert log["tokens_per_second"] == pytest.approx(8 * log["sequences_per_second"], rel=1e-3)
    assert log["tokens_per_second_with_padding"] == log["tokens_per_second"]
    active = log["parameters_without_embeddings"]
    assert 0 < active < log["parameters"]
    assert log["mfu"] == pytest.approx(6 * active * log["tokens_per_second"] / 0.1e12, abs=1e-4)
    assert log["peak_memory_gib"] > 0
    assert [step for step, _ in log["losses"]] == [1, 2, 3, 4, 5, 6]
    assert log["config"]["precision"] == "bf16"
    assert log["provenance"]["data"].keys() == {"config.yaml", "train.jsonl"}
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("kind", "more", "texts"),
    [
        (BiEncoderConfig, {"loss": "cached", "mini_batch_size": 4, "negatives": 2}, 4),
        (BiEncoderConfig, {"accumulate": 2, "max_steps": 3}, 3),
        (CrossEncoderConfig, {"negatives": 3, "gradient_checkpointing": True}, 4),
        (CrossEncoderConfig, {"negatives": 3, "loss": "bce"}, 1),
    ],
)
def test_each_text_counts_once(keys, kind, more, texts):
    log = check(of(kind, keys, **more), 60)
    assert log["sequences_per_second"] == pytest.approx(texts * log["examples_per_second"], rel=1e-2)
    assert log["device"] == "CPU" or log["mfu"] is not None


def test_a_static_embedding_has_no_padding(keys):
    more = {"static": keys.pop("base"), "dimension": 8}
    log = check(of(BiEncoderConfig, keys, **more), 60)
    assert log["tokens_per_second"] == pytest.approx(6 * log["sequences_per_second"], rel=1e-2)
    assert log["parameters_without_embeddings"] == 0


def test_it_ends_in_time(keys):
    log = check(of(BiEncoderConfig, keys, max_steps=100_000, epochs=1), 0.3)
    assert 0.3 <= log["seconds"] < 5
    assert log["steps"] < 99_000


def test_what_cannot_be_used_is_named(keys, tmp_path):
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(keys | {"batch": 1}))
    options = ["--config", str(tmp_path / "config.yaml"), "--out", str(tmp_path / "log.json")]
    with pytest.raises(InputError, match="there is no key 'batch'; did you mean 'batch_size'"):
        CliRunner().invoke(command, ["bi-encoder", *options], catch_exceptions=False)


@pytest.mark.parametrize(
    ("device", "peak"),
    [
        ("NVIDIA GeForce RTX 3090", 71.0),
        ("NVIDIA GeForce RTX 3090 Ti", None),
        ("NVIDIA H200", 989.0),
        ("NVIDIA H100 PCIe", 756.0),
        ("NVIDIA H100 80GB HBM3", 989.0),
        ("NVIDIA L4", 121.0),
        ("NVIDIA L40S", 362.0),
        ("NVIDIA L40", None),
        ("Tesla T4", None),
    ],
)
def test_peaks_are_known_of_some_cards(device, peak):
    assert peak_tflops(device) == peak
    assert all(math.isfinite(known) for known in PEAKS.values())


def test_memory_is_estimated_by_what_stands_in_it():
    def memory(**keys):
        config = BiEncoderConfig(train=("x",), out="y", base="b", max_length=100, batch_size=10, **keys)
        return training_memory(config, 1_000_000, 2, 64)

    plain = memory()
    assert (plain.weights, plain.gradients, plain.optimiser) == (4_000_000, 4_000_000, 8_000_000)
    assert plain.activations == 10 * 3 * 100 * 2 * 64 * 65
    assert plain.total == 16_000_000 + plain.activations
    assert memory(precision="bf16").weights == 6_000_000
    assert memory(precision="bf16").activations < plain.activations
    assert memory(loss="cached", mini_batch_size=3).activations == 3 * 100 * 2 * 64 * 65
    assert memory(gradient_checkpointing=True).activations == 10 * 3 * 100 * 64 * (2 * 4 + 65)
