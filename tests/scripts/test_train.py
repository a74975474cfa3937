"""``firstpage train`` as a person runs it: alone, killed, twice at once, and on two processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import yaml
from click.testing import CliRunner
from firstpage.scripts.cli import cli
from firstpage.train.folder import TrainingFolder
from safetensors.torch import load_file


@pytest.fixture
def configuration(bert, example_files, tmp_path, monkeypatch):
    """Writes a configuration of a short training, into the folder of its name."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")

    def write(name, **keys):
        train, dev = map(str, example_files)
        given = {
            "train": train, "dev": dev, "out": str(tmp_path / name), "base": str(bert), "batch_size": 8,
            "max_steps": 6, "max_length": 32, "learning_rate": 1e-3, "log_every": 1,
        }  # fmt: skip
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(given | keys))
        return tmp_path / f"{name}.yaml"

    return write


def launched(command):
    """Runs a command in a process of its own, to its end."""
    return subprocess.run(command, capture_output=True, check=False, timeout=120, text=True)


def train(kind, config, *options):
    """As a person runs it, in the process of the test; the lines that it prints."""
    arguments = ["train", kind, "--config", str(config), *options]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout.splitlines()


def weights(folder):
    return load_file(Path(folder) / "model" / "model.safetensors")


def test_a_finished_training_is_done_and_another_needs_leave(in_process, configuration, tmp_path):
    config = configuration("out", dev=[])
    (first,) = train("cross-encoder", config, "--json")
    assert json.loads(first) == json.loads((tmp_path / "out" / "training.json").read_text())
    again = train("cross-encoder", config)
    assert again == [f"{tmp_path}/out/model is done: 6 steps on 48 examples, step 6"]
    other = configuration("out", dev=[], seed=2)
    assert in_process("train", "cross-encoder", "--config", other).is_refused(
        "holds a finished training with another 'seed'; name another folder, or give --overwrite to lose it"
    )
    train("cross-encoder", other, "--overwrite")
    assert json.loads((tmp_path / "out" / "training.json").read_text())["settings"]["seed"] == 2


def test_a_second_training_into_a_folder_is_refused(in_process, configuration, tmp_path):
    config = configuration("out")
    with TrainingFolder(tmp_path / "out", {}):
        assert in_process("train", "bi-encoder", "--config", config, "--overwrite").is_refused(
            "out: another process trains into", "wait for it or name another"
        )


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"los": "cached"}, "there is no key 'los'; did you mean 'loss'?"),
        ({"loss": "cached", "gradient_checkpointing": True}, "gradient_checkpointing: does not go with"),
        ({"base": "./none"}, "base: './none' cannot be loaded"),
        ({"train": "none.jsonl"}, "train: there is no file 'none.jsonl'"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(in_process, configuration, keys, said):
    assert in_process("train", "bi-encoder", "--config", configuration("out", **keys)).is_refused(said)


def test_examples_of_a_held_out_repository_are_refused(in_process, configuration, example_files):
    development = str(example_files[1])
    config = configuration("out", train=development)
    assert in_process("train", "bi-encoder", "--config", config).is_refused(
        "'pydicom/pydicom' is held out for", "nothing is trained on it"
    )


def test_without_the_libraries_the_error_says_what_to_install(in_process, configuration, monkeypatch):
    for kind in ("bi", "cross"):
        monkeypatch.setitem(sys.modules, f"firstpage.train.{kind}_encoder", None)
        done = in_process("train", f"{kind}-encoder", "--config", configuration("out"))
        assert done.is_refused("pip install 'firstpage[train]'", status=1)


@pytest.mark.skipif(os.name != "posix", reason="the kill is POSIX's")
def test_killed_a_training_goes_on_to_the_same_weights(configuration, console_script, tmp_path):
    keys = {"max_steps": 120, "checkpoint_every": 10}
    whole, broken = configuration("whole", **keys), configuration("broken", **keys)
    state = tmp_path / "broken" / "checkpoints" / "checkpoint-10" / "trainer_state.json"
    command = [console_script, "train", "bi-encoder", "--config", broken]
    with subprocess.Popen(command) as running:
        while not state.exists() and running.poll() is None:
            time.sleep(0.005)
        running.send_signal(signal.SIGKILL)
    assert running.returncode == -signal.SIGKILL
    assert not (tmp_path / "broken" / "model").exists()
    done = launched(command)
    assert (done.returncode, done.stderr) == (0, "")
    first, *figures = done.stdout.splitlines()
    assert first.startswith(f"{tmp_path}/broken/model is done: 120 steps on 48 examples, step ")
    assert [line.split()[0] for line in figures] == ["mrr@10", "top@1"]
    told = json.loads((tmp_path / "broken" / "training.json").read_text())
    assert told["seconds"] is None  # it did not start over
    train("bi-encoder", whole)
    expected = weights(tmp_path / "whole")
    assert all(torch.equal(tensor, expected[key]) for key, tensor in weights(tmp_path / "broken").items())


@pytest.mark.parametrize("kind", ["bi-encoder", "cross-encoder"])
def test_two_processes_have_the_loss_curve_of_one(configuration, console_script, make_bert, kind):
    # Without dropout, which each process draws for itself. Sums over half batches round differently.
    keys = {"base": str(make_bert(dropout=0.0)), "max_steps": 12, "checkpoint_every": 6, "negatives": 2}
    launch = Path(sys.executable).parent / "accelerate"
    command = [
        launch, "launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1",
        "--mixed_precision", "no", "--dynamo_backend", "no",
        console_script, "train", kind, "--config", configuration("two", **keys), "--json",
    ]  # fmt: skip
    done = launched(command)
    assert done.returncode == 0, done.stderr
    (alone,) = train(kind, configuration("one", **keys), "--json")
    one, both = json.loads(alone), json.loads(done.stdout)
    assert len(both["losses"]) == 12  # two epochs
    for key in ("losses", "development"):
        assert [step for step, _ in both[key]] == [step for step, _ in one[key]]
        figures = [figure for _, figure in one[key]]
        assert [figure for _, figure in both[key]] == pytest.approx(figures, rel=1e-4)
