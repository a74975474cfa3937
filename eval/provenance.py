"""Where a result comes from: the block that every committed result carries."""

import hashlib
import os
import platform
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..core.git import git_environment
from .statistics import SEED

_SEPARATOR = re.compile(r"[/\\]")


def provenance(
    command: str | Sequence[str],
    seed: int | None = SEED,
    data: Iterable[str | Path] = (),
    digests: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What another person needs to get the same figures: code, command, seed, data and machine.

    No host name and no folder of this machine is in it: files go by their base names.

    Args:
        command: as typed, whole or a word each.
        seed: of all random draws, None where there are none; that of the bootstrap if not given.
        data: files that the result rests on.
        digests: SHA-256 by name of data that came from elsewhere than a file.

    Returns:
        ``commit`` (with ``modified`` where the checkout differs from it) or else ``version``,
        ``command``, ``seed``, ``data`` (SHA-256 by name), ``machine`` and ``date``.
    """
    typed = shlex.split(command) if isinstance(command, str) else command
    return {
        **_code(Path(__file__).resolve().parent.parent),
        "command": shlex.join(_without_folders(word) for word in typed),
        "seed": seed,
        "data": {Path(file).name: sha256(file) for file in data} | dict(digests or {}),
        "machine": machine(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def machine() -> dict[str, Any]:
    """CPU, cores and memory, Python and platform; nothing that names this one machine."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": _memory(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def _code(root: Path) -> dict[str, Any]:
    """The commit of the checkout that this file stands in, or the installed version."""
    # Only a .git of our own: a wheel in a virtual environment may lie inside somebody's repository.
    if (root / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            commit = _git(root, "rev-parse", "HEAD")
            # Results are written while a command runs; they are no part of the code.
            changed = _git(root, "status", "--porcelain", "--", ".", ":!eval/results")
            return {"commit": commit, "modified": bool(changed)}
    try:
        return {"version": version("firstpage")}
    except PackageNotFoundError:
        return {"version": "unknown"}


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        capture_output=True,
        check=True,
        timeout=30,
        env=git_environment(),
    )
    return done.stdout.decode("utf-8", "replace").strip()


def _without_folders(word: str) -> str:
    """A word of a command line; of a path, also one right behind an option, only its last name."""
    if word.startswith("--"):
        option, sign, value = word.partition("=")
    else:
        option, sign, value = (word[:2], "", word[2:]) if word.startswith("-") else ("", "", word)
    return option + sign + ",".join(map(_last_names, value.split(",")))


def _last_names(part: str) -> str:
    """Of a path its last name; of weights at a relative one, which often end alike, the last two."""
    name, at, folder = part.rpartition("@")
    names = _SEPARATOR.split(folder.rstrip("/\\"))
    told = names[-2:] if name and re.match(r"\w+[/\\]", folder) else names[-1:]
    return _SEPARATOR.split(name)[-1] + at + "/".join(told)


def _cpu() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):  # no such figure on this system
        return None
