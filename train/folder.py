"""The folder that one training writes: one process at a time, killed at any moment, finished once.

::

    OUT/training.json   what is trained, and in the end what came of it
    OUT/checkpoints/    to go on from; removed when the model is there
    OUT/tensorboard/    losses and development figures
    OUT/model/          the model, with its card README.md; whole or not there
"""

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from ..core.closing import Closing
from ..core.errors import InputError, RunError
from ..core.files import lock, write_atomically

_LOCK = ".lock"
_OURS = {"training.json", "checkpoints", "tensorboard", "model", "model.part", "encoder", _LOCK}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint that was written whole.

    Args:
        path: its folder, absolute.
        step: after which it was written.
        finished: whether training had come to its end.
        best: the checkpoint with the best development figure so far; this one where nothing was measured.
        history: what was logged up to here: losses and development figures, each with its step.
    """

    path: Path
    step: int
    finished: bool
    best: Path
    history: list[dict[str, Any]]


class TrainingFolder(Closing):
    """Keeps other processes out and knows what there is to do.

    Args:
        path: of the folder; missing ones are made.
        settings: what the weights depend on.
        overwrite: whether an earlier training in it is removed.

    Raises:
        InputError: another process trains into it, it holds a training of other settings, or files that no
            training wrote.
        RunError: it cannot be written to.

    Example:
        >>> with TrainingFolder("out/bi-encoder", {"seed": 1}) as folder:  # doctest: +SKIP
        ...     checkpoint = folder.checkpoint()
    """

    def __init__(self, path: str | Path, settings: Mapping[str, Any], overwrite: bool = False) -> None:
        self.path = Path(path).absolute()
        self.checkpoints = self.path / "checkpoints"
        self.tensorboard = self.path / "tensorboard"
        self.model = self.path / "model"
        self.record: dict[str, Any] = {}
        self._settings = json.loads(json.dumps(settings))
        self._overwrite = overwrite
        self._lock: IO[bytes]

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = (self.path / _LOCK).open("ab")
        except OSError as error:
            raise RunError(f"out: cannot write to the folder '{self.path}': {error.strerror}") from error
        lock(
            self._lock, f"out: another process trains into '{self.path}'; wait for it or name another folder"
        )
        try:
            self._take_up()
        except BaseException:
            self._lock.close()
            raise
        return self

    def close(self) -> None:
        """Lets other processes train into it."""
        self._lock.close()

    @property
    def done(self) -> bool:
        """Whether the model is there."""
        return bool(self.record.get("finished"))

    def checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint that is whole, if there is one."""
        found = map(_checkpoint, self._checkpoints())
        return max((one for one in found if one), key=lambda one: one.step, default=None)

    def write(self, **facts: Any) -> None:
        """Adds to what ``training.json`` tells.

        Raises:
            RunError: the disk is full or cannot be written to.
        """
        self.record |= facts
        write_atomically(self.path / "training.json", json.dumps(self.record, indent=1) + "\n")

    def part(self) -> Path:
        """An empty folder to write the model to, before `finish` puts it in its place."""
        part = self.path / "model.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        return part

    def finish(self, **facts: Any) -> None:
        """Puts the model in its place, adds to what ``training.json`` tells and removes the checkpoints."""
        shutil.rmtree(self.model, ignore_errors=True)
        (self.path / "model.part").rename(self.model)
        self.write(finished=True, **facts)
        shutil.rmtree(self.checkpoints, ignore_errors=True)

    def _checkpoints(self) -> list[Path]:
        return list(self.checkpoints.glob("checkpoint-*"))

    def _take_up(self) -> None:
        """Reads what an earlier run left, if it is of the same settings."""
        record = self._read()
        names = sorted(path.name for path in self.path.iterdir())
        others = [name for name in names if not name.startswith((_LOCK, ".training"))]
        if others and not record:
            raise InputError(
                f"out: '{self.path}' holds files of others, such as '{others[0]}'; name another folder"
            )
        if self._overwrite:
            self._clear()
        elif record:
            self._check(record)
            self.record = record
        if not self.record:
            self.write(settings=self._settings)
        for path in self._checkpoints():
            if _checkpoint(path) is None:  # the trainer would take it for the newest, and remove older ones
                shutil.rmtree(path)

    def _read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            record = json.loads((self.path / "training.json").read_bytes())
            if isinstance(record, dict) and isinstance(record.get("settings"), dict):
                return record
        return {}

    def _check(self, record: Mapping[str, Any]) -> None:
        old, new = record["settings"], self._settings
        differ = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        if differ:
            kind = "a finished" if record.get("finished") else "an unfinished"
            raise InputError(
                f"out: '{self.path}' holds {kind} training with another '{differ[0]}'; name another folder, "
                "or give --overwrite to lose it"
            )

    def _clear(self) -> None:
        for name in _OURS - {_LOCK}:
            path = self.path / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def _checkpoint(path: Path) -> Checkpoint | None:
    """The checkpoint in the folder, unless its writing was cut short: its state is written last."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        state = json.loads((path / "trainer_state.json").read_bytes())
        best = state["best_global_step"]
        return Checkpoint(
            path=path,
            step=state["global_step"],
            finished=state["stateful_callbacks"]["TrainerControl"]["args"]["should_training_stop"],
            best=path.with_name(f"checkpoint-{best}") if best else path,
            history=state["log_history"],
        )
    return None
