import json
import os
import subprocess
import sys

import pytest
from firstpage.core.errors import InputError, RunError
from firstpage.train.folder import TrainingFolder

SETTINGS = {"seed": 1, "train": ("a",)}


def state(step, best=None, finished=False):
    return json.dumps({
        "global_step": step, "best_global_step": best, "log_history": [{"step": step}],
        "stateful_callbacks": {"TrainerControl": {"args": {"should_training_stop": finished}}},
    })  # fmt: skip


def put_checkpoint(out, step, text=None):
    (out / "checkpoints" / f"checkpoint-{step}").mkdir(parents=True)
    (out / "checkpoints" / f"checkpoint-{step}" / "trainer_state.json").write_text(text or state(step))


@pytest.fixture
def out(tmp_path):
    return tmp_path / "new" / "out"


def finish(out, settings=SETTINGS):
    with TrainingFolder(out, settings) as folder:
        (folder.part() / "weights").write_text("1")
        folder.finish(after=1)


def test_a_new_folder_has_everything_to_do(out):
    with TrainingFolder(out, SETTINGS) as folder:
        assert (folder.done, folder.checkpoint()) == (False, None)
    assert json.loads((out / "training.json").read_text()) == {"settings": {"seed": 1, "train": ["a"]}}


def test_a_finished_folder_is_done_for_the_same_settings(out):
    with TrainingFolder(out, SETTINGS):
        put_checkpoint(out, 1)
    finish(out)
    assert sorted(path.name for path in out.iterdir()) == [".lock", "model", "training.json"]
    with TrainingFolder(out, SETTINGS) as folder:
        assert folder.done
        assert folder.record["after"] == 1


@pytest.mark.parametrize("finished", [True, False])
def test_other_settings_are_refused_unless_the_old_ones_may_be_lost(out, finished):
    if finished:
        finish(out)
    else:
        with TrainingFolder(out, SETTINGS):
            put_checkpoint(out, 1)
    kind = "a finished" if finished else "an unfinished"
    with pytest.raises(InputError, match=f"holds {kind} training with another 'seed'; .* --overwrite"):
        TrainingFolder(out, {**SETTINGS, "seed": 2}).__enter__()
    with TrainingFolder(out, {**SETTINGS, "seed": 2}, overwrite=True) as folder:
        assert (folder.done, folder.checkpoint()) == (False, None)
    assert sorted(path.name for path in out.iterdir()) == [".lock", "training.json"]


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("name", ["thesis.tex", "model"])
def test_files_of_others_are_left_alone(out, name, overwrite):
    out.mkdir(parents=True)
    (out / name).write_text("x")
    with pytest.raises(InputError, match=f"holds files of others, such as '{name}'"):
        TrainingFolder(out, SETTINGS, overwrite).__enter__()
    assert (out / name).read_text() == "x"


def test_a_first_start_that_was_killed_is_no_hindrance(out):
    out.mkdir(parents=True)
    (out / ".lock").write_text("")
    (out / ".training.json.xyz").write_text('{"set')
    with TrainingFolder(out, SETTINGS) as folder:
        assert not folder.done


def test_the_newest_whole_checkpoint_counts(out):
    put_checkpoint(out, 9, state(9, best=5))
    put_checkpoint(out, 10, state(10, best=5, finished=True))
    put_checkpoint(out, 11, '{"global_step": 11')
    (out / "checkpoints" / "checkpoint-12").mkdir()
    checkpoint = TrainingFolder(out, SETTINGS).checkpoint()
    assert checkpoint is not None
    assert (checkpoint.step, checkpoint.finished, checkpoint.history) == (10, True, [{"step": 10}])
    assert checkpoint.best == out / "checkpoints" / "checkpoint-5"


def test_a_checkpoint_that_was_cut_off_is_removed(out):
    with TrainingFolder(out, SETTINGS):
        put_checkpoint(out, 9)
        put_checkpoint(out, 10, "{")
    with TrainingFolder(out, SETTINGS):
        assert [path.name for path in (out / "checkpoints").iterdir()] == ["checkpoint-9"]


def test_without_development_figures_the_newest_is_the_best(out):
    put_checkpoint(out, 9)
    checkpoint = TrainingFolder(out, SETTINGS).checkpoint()
    assert checkpoint is not None
    assert checkpoint.best == checkpoint.path


def test_a_second_process_is_refused_until_the_first_ends(out):
    pytest.importorskip("fcntl")
    code = (
        "import sys, time; from firstpage.train.folder import TrainingFolder\n"
        f"with TrainingFolder({str(out)!r}, {{}}): print('in', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"in\n"
        with pytest.raises(InputError, match=r"another process trains into .*; wait for it or name another"):
            TrainingFolder(out, {}, overwrite=True).__enter__()
        first.kill()
    with TrainingFolder(out, {}):
        pass


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="out: cannot write to the folder"):
        TrainingFolder(tmp_path / "file" / "out", {}).__enter__()


def test_a_folder_is_known_by_its_whole_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert TrainingFolder("out", {}).path == tmp_path / "out"
    assert os.path.isabs(TrainingFolder("out", {}).checkpoints)
