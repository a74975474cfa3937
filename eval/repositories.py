"""Where the repositories of a benchmark are: a folder of clones, a YAML map, or clones made now."""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from ..core.errors import InputError, MissingExtraError, RunError
from ..core.git import git_environment
from ..readers.database import cache_folder

GITHUB = "https://github.com/{}.git"
# A name becomes part of a path and of an address; it comes from a file of tasks.
_NAME = re.compile(r"(?!\.\.?/)[\w.-]+/(?!\.\.?$)[\w.-]+", re.ASCII)
_PERCENT = re.compile(rb"Receiving objects:\s+(\d+)%")


def find_repositories(where: str | Path, names: Iterable[str]) -> dict[str, Path]:
    """The repository folder of each name.

    Args:
        where: a folder of clones, bare or not, named ``owner__name``, ``owner/name`` or ``name`` (unless
            two of the names end alike), each with or without ``.git``; or a YAML file that maps
            ``owner/name`` to a folder, relative ones seen from the file.
        names: such as ``django/django``.

    Raises:
        InputError: ``where`` is neither, a name is not ``owner/name``, or some names are not there; all of
            them are listed.
        MissingExtraError: a YAML map is given and PyYAML is not installed.
    """
    where = Path(where)
    names = _checked(names)
    if where.is_dir():
        ends = Counter(name.split("/")[1] for name in names)
        found = {name: _in_folder(where, name, ends[name.split("/")[1]] == 1) for name in names}
    elif where.is_file():
        mapped = _read_map(where)
        found = {name: where.parent / mapped[name] if name in mapped else None for name in names}
    else:
        raise InputError(f"--repos must name a folder of clones or a YAML map, and '{where}' is neither")
    missing = sorted(name for name, path in found.items() if path is None or not path.is_dir())
    if missing:
        raise InputError(f"--repos '{where}' lacks {', '.join(missing)}; clone them there as owner__name")
    return {name: path for name, path in found.items() if path is not None}


def clone_repositories(names: Iterable[str], progress: Callable[[str, int], None]) -> dict[str, Path]:
    """Bare clones in the cache folder, made where they are not there yet.

    A clone appears under its name only when it is whole.

    Args:
        names: such as ``django/django``, fetched from GitHub.
        progress: called with a name and the percentage received.

    Raises:
        InputError: a name is not ``owner/name``.
        RunError: a repository cannot be cloned; what git said is passed on.
    """
    folder = cache_folder() / "repositories"
    found = {}
    for name in _checked(names):
        place = folder / f"{name.replace('/', '__')}.git"
        if not place.is_dir():
            _clone(GITHUB.format(name), place, partial(progress, name))
        found[name] = place
    return found


def _checked(names: Iterable[str]) -> list[str]:
    """The names, each once."""
    asked = list(dict.fromkeys(names))
    for name in asked:
        if not _NAME.fullmatch(name):
            raise InputError(f"a task's repo must be owner/name, and {name!r} is not")
    return asked


def _in_folder(folder: Path, name: str, alone: bool) -> Path | None:
    spellings = [name.replace("/", "__"), name, *([name.split("/")[1]] if alone else [])]
    places = (folder / f"{spelling}{ending}" for spelling in spellings for ending in ("", ".git"))
    return next((place for place in places if place.is_dir()), None)


def _read_map(path: Path) -> dict[str, str]:
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("a YAML map of repositories", "eval") from None
    try:
        mapped = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"--repos '{path}' is no YAML file: {' '.join(str(error).split())}") from error
    if not isinstance(mapped, dict) or not all(
        isinstance(one, str) for pair in mapped.items() for one in pair
    ):
        raise InputError(f"--repos '{path}' must map each owner/name to one folder")
    return mapped


def _clone(address: str, place: Path, progress: Callable[[int], None]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(place.name + ".part")
    shutil.rmtree(part, ignore_errors=True)  # what a killed run left
    with subprocess.Popen(
        ["git", "clone", "--bare", "--progress", address, str(part)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=git_environment(may_fetch=True),
    ) as git:
        assert git.stderr is not None
        said = b""
        while piece := git.stderr.read1(4096):  # type: ignore[attr-defined]
            said = (said + piece)[-4096:]
            if told := _PERCENT.findall(piece):
                progress(int(told[-1]))
    if git.returncode:
        lines = re.split(r"[\r\n]+", said.decode("utf-8", "replace").strip())
        why = next((line for line in lines if line.startswith(("fatal: ", "error: "))), lines[-1])
        raise RunError(f"the repository {address} cannot be cloned ({why}); give --repos a folder of clones")
    part.rename(place)
