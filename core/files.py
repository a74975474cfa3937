"""Writing files so that a reader, also after a crash, finds the old content or the new, never a part."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from .errors import InputError, RunError


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Writes a whole file: beside it under another name, to the disk, then in its place.

    Args:
        path: of the file; missing folders are made.
        content: text is written as UTF-8 with its line ends as they are.

    Raises:
        RunError: the folder cannot be written to, or the disk is full.
    """
    path = Path(path)
    body = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, body)
    except OSError as error:
        raise RunError(f"cannot write '{path}': {error.strerror or error}") from error


def lock(file: IO[bytes], refusal: str) -> None:
    """Keeps a second process out until the file is closed or this process ends, however it ends.

    Args:
        file: open for writing; closed if it is refused.
        refusal: what to say to the second process.

    Raises:
        InputError: the refusal, as another process holds the file.
    """
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise InputError(refusal) from None


def _replace(path: Path, body: bytes) -> None:
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).chmod(_mode(path))
        Path(beside).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(beside).unlink()
        raise
    _sync_folder(path.parent)


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file would get."""
    with suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Brings the new name to the disk as well, where the system has folders that can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
