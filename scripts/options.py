"""What several commands share: reading a query, and a progress bar that only a person at a terminal sees."""

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from ..core.errors import InputError
from ..core.registry import Registry
from ..readers import DEFAULT

Command = TypeVar("Command", bound=Callable[..., Any])


suffixes = click.option(
    "--suffix", multiple=True, help="Which files, such as .py; repeatable. Source files by default."
)


def purpose_of(purposes: Sequence[str]) -> Callable[[Command], Command]:
    """The option that tells what is trained; the first is what is meant without it."""
    return click.option(
        "--for", "purpose", type=click.Choice(purposes), default=purposes[0], show_default=True,
        help="What is trained; fusion may see the development tasks.",
    )  # fmt: skip


def query_text(query: str) -> str:
    """The query as given, or the text of FILE for ``@FILE``; ``@@`` stands for an ``@`` of the query's own.

    Raises:
        InputError: the file cannot be read.
    """
    if not query.startswith("@"):
        return query
    if query.startswith("@@"):
        return query[1:]
    try:
        return Path(query[1:]).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise InputError(f"--query cannot read the file '{query[1:]}': {error.strerror}") from error


@contextmanager
def index_progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A function of (done, to do) that moves a bar on standard error; it is shown once there is work."""
    bar: Any = None

    def move(done: int, to_do: int) -> None:
        nonlocal bar
        if bar is None:
            bar = _bar(label, to_do)
            bar.__enter__()
        bar.update(done - bar.pos)

    try:
        yield move
    finally:
        if bar is not None:
            bar.__exit__(None, None, None)


@contextmanager
def task_progress(label: str, tasks: int) -> Iterator[Callable[[], None]]:
    """A function that moves a bar on standard error by one task, with the time left."""
    with _bar(label, tasks) as bar:
        yield lambda: bar.update(1)


def repositories(repos: str | None, names: Iterable[str]) -> dict[str, Path]:
    """Where the repositories are: in the folder or map of ``--repos``, or else cloned now, with a bar each.

    Raises:
        InputError: ``--repos`` lacks some of them.
        RunError: one cannot be cloned.
    """
    from ..eval.repositories import clone_repositories, find_repositories

    if repos is not None:
        return find_repositories(repos, names)
    bars: dict[str, Any] = {}

    def move(name: str, percent: int) -> None:
        if name not in bars:
            bars[name] = _bar(f"cloning {name}", 100)
            bars[name].__enter__()
        bars[name].update(percent - bars[name].pos)
        if percent == 100:
            bars[name].__exit__(None, None, None)

    return clone_repositories(names, move)


def names(registry: Registry[Any]) -> Callable[[click.Context, click.Parameter, str | None], list[str]]:
    """Reads a comma-separated list of registered names, all of them if none are given."""

    def read(_: click.Context, __: click.Parameter, value: str | None) -> list[str]:
        if value is None:
            return registry.names()
        listed = list(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
        if not listed:
            raise InputError(f"no {registry.kind} is named; there are {', '.join(registry.names())}")
        for name in listed:
            registry.create(name)  # an unknown one is named before any work is done
        return listed

    return read


def reference_among(functions: Sequence[str], named: str | None) -> str:
    """The value function that the others are compared with: the one named, else the default, else the first.

    Raises:
        InputError: the one named is not measured.
    """
    if named is None:
        return DEFAULT if DEFAULT in functions else functions[0]
    if named not in functions:
        raise InputError(f"--reference '{named}' is not measured; name one of {', '.join(functions)}")
    return named


def new_folder(path: str) -> Path:
    """The folder that results will be written to, made before any work is done.

    Raises:
        InputError: it cannot be made or not be written to.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out cannot make the folder '{path}': {error.strerror}") from error
    if not os.access(folder, os.W_OK):
        raise InputError(f"--out cannot write to the folder '{path}'")
    return folder


def numbers(_: click.Context, parameter: click.Parameter, value: str) -> list[int]:
    """Reads comma-separated whole numbers above zero."""
    try:
        read = [int(part.replace("_", "")) for part in value.split(",")]
    except ValueError:
        read = []
    if not read or min(read) <= 0:
        raise InputError(f"--{parameter.name} takes whole numbers above 0 with commas, not '{value}'")
    return list(dict.fromkeys(read))


def _bar(label: str, length: int) -> Any:
    """A progress bar on standard error; a stream that nobody watches gets none, not even its label."""
    watched = sys.stderr is not None and sys.stderr.isatty()
    stream = sys.stderr if watched else io.StringIO()
    return click.progressbar(length=length, label=label, file=stream, show_pos=True)
