"""What several commands share: reading a query, and a progress bar that only a person at a terminal sees."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..core.errors import InputError
from ..core.registry import Registry


def query_text(query: str) -> str:
    """The query as given, or the text of FILE for ``@FILE``.

    Raises:
        InputError: the file cannot be read.
    """
    if not query.startswith("@"):
        return query
    try:
        return Path(query[1:]).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise InputError(f"--query cannot read the file '{query[1:]}': {error.strerror}") from error


@contextmanager
def index_progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A function of (done, to do) that moves a bar on standard error; it is shown once there is work."""
    bar = None

    def move(done: int, to_do: int) -> None:
        nonlocal bar
        if bar is None:
            bar = click.progressbar(length=to_do, label=label, file=sys.stderr)
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
    with click.progressbar(length=tasks, label=label, file=sys.stderr, show_pos=True) as bar:
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
            bars[name] = click.progressbar(length=100, label=f"cloning {name}", file=sys.stderr)
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
        listed = [name.strip() for name in value.split(",") if name.strip()]
        for name in listed:
            registry.create(name)  # an unknown one is named before any work is done
        return listed

    return read


def numbers(_: click.Context, parameter: click.Parameter, value: str) -> list[int]:
    """Reads comma-separated whole numbers above zero."""
    try:
        read = [int(part.replace("_", "")) for part in value.split(",")]
    except ValueError:
        read = []
    if not read or min(read) <= 0:
        raise InputError(f"--{parameter.name} takes whole numbers above 0 with commas, not '{value}'")
    return read
