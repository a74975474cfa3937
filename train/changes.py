"""What git tells of commits: which files they change, and where; many commits a process, none written.

Nothing here reads a file that is not asked for: a history is walked in trees alone, sizes are looked up
before contents, and a missing blob loses its own commit's file and nothing else.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from ..core.errors import RunError
from ..core.git import GitStore, git_environment
from .functions import Hunk

_FORMAT = "%H%x00%P%x00%an%x00%B%x00"  # git takes no NUL into a message
_BLOCK = 1 << 20
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")

Blobs = tuple[str, str]  # a file's content before and after


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a commit.

    Args:
        status: ``A``, ``D``, ``M`` or ``T``.
        path: bytes that are no UTF-8 are lone surrogates.
        blobs: before and after; zeros for none.
        regular: whether it is a file, neither link nor submodule, before and after.
    """

    status: str
    path: str
    blobs: Blobs
    regular: bool


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; a merge is seen from its first parent.

    Args:
        name: full object name.
        parents: object names.
        author: name.
        message: whole.
        changes: in tree order.
    """

    name: str
    parents: Sequence[str]
    author: str
    message: str
    changes: Sequence[Change]


def commits(store: GitStore, head: str, skip: int = 0, most: int | None = None) -> Generator[Commit]:
    """The commits that lead to ``head``, newest first, merges among them, as git delivers them.

    Args:
        store: of the repository.
        head: full object name.
        skip: how many of them are left out at the start.
        most: how many are given at most; all if None.

    Raises:
        RunError: the history cannot be read, for instance because a tree is missing.
    """
    limit = [] if most is None else [f"--max-count={most}"]
    # Rename detection reads contents, slows a long history and aborts where a blob is missing.
    arguments = [
        "log", "--raw", "-z", "--no-abbrev", "--no-renames", "--diff-merges=first-parent", f"--skip={skip}",
        "--no-show-signature", "--no-notes", "--encoding=UTF-8", f"--format={_FORMAT}", *limit, head, "--",
    ]  # fmt: skip
    with tempfile.TemporaryFile() as said, _started(store, arguments, said) as git:
        assert git.stdout is not None
        try:
            complete: Commit | None = None  # the last one may be cut off where git fails
            for commit in _parsed(_fields(git.stdout)):
                if complete is not None:
                    yield complete
                complete = commit
            if git.wait() != 0:
                raise RunError(f"the history of {store.git_dir} cannot be read: {_last_line(said)}")
            if complete is not None:
                yield complete
        finally:
            git.kill()


def count_commits(store: GitStore, head: str, most: int | None = None) -> int:
    """How many commits `commits` gives."""
    limit = [] if most is None else [f"--max-count={most}"]
    return int(_output(store, ["rev-list", "--count", *limit, head, "--"]))


def sizes(store: GitStore, objects: Sequence[str]) -> dict[str, int]:
    """Bytes of each object that the store has."""
    if not objects:
        return {}
    asked = "".join(f"{name}\n" for name in objects).encode()
    check = "--batch-check=%(objectname) %(objectsize)"
    try:
        told = _output(store, ["cat-file", check], asked)
    except RunError:  # of a partial clone, git dies where it says "missing" of a whole one
        told = _output(store, ["cat-file", "--batch-all-objects", "--unordered", check])
    rows = (line.split(" ") for line in told.decode().splitlines())
    among = set(objects)
    return {name: int(size) for name, size in rows if size != "missing" and name in among}


def setting(store: GitStore, name: str) -> str:
    """What the repository's configuration says.

    Raises:
        RunError: it says nothing of that name.
    """
    return _text(_output(store, ["config", "--get", name])).strip()


def blobs_of(store: GitStore, commit: str, paths: Sequence[str]) -> dict[str, str]:
    """The blob of each path that is a file of the commit."""
    listed = _output(
        store,
        ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", *map(os.fsencode, paths)],
    )
    found = {}
    for row in listed.split(b"\0"):
        mode_kind_blob, _, path = row.partition(b"\t")
        if mode_kind_blob.startswith(b"100"):
            found[_text(path)] = mode_kind_blob.split(b" ")[2].decode()
    return found


def hunks(
    store: GitStore, pairs: Sequence[tuple[str, str]], paths: Sequence[str] = ()
) -> dict[Blobs, list[Hunk]] | None:
    """Where the files of some commits are changed, white space not counted, by their blobs.

    A file in which nothing but white space differs is not among them.

    Args:
        store: of the repository.
        pairs: (commit, parent) each.
        paths: the files to compare; all that were there before and after if empty.

    Returns:
        None if git failed, as it does where a blob is missing.
    """
    arguments = [
        "--literal-pathspecs", "diff-tree", "--stdin", "-r", "-p", "-U0", "-w", "--text", "--full-index",
        "--diff-filter=M", "--no-renames", "--no-commit-id", "--no-ext-diff", "--no-textconv", "--no-color",
        "--diff-algorithm=histogram", "--inter-hunk-context=0", "--ignore-submodules=all", "--",
    ]  # fmt: skip
    asked = "".join(f"{commit} {parent}\n" for commit, parent in pairs).encode()
    with tempfile.TemporaryFile() as asking:
        asking.write(asked)
        asking.seek(0)
        with _started(store, [*arguments, *map(os.fsencode, paths)], subprocess.DEVNULL, asking) as git:
            assert git.stdout is not None
            found = _hunks(git.stdout)
    return found if git.returncode == 0 else None


def _hunks(lines: IO[bytes]) -> dict[Blobs, list[Hunk]]:
    """The hunks in a patch without context, in which each line of a file starts with a sign."""
    found: dict[Blobs, list[Hunk]] = {}
    here: list[Hunk] = []
    awaited = False  # whether the hunk only adds, and no line of it told its indentation yet
    for line in lines:
        sign = line[:1]
        if sign == b"+":
            if awaited and line[1:].strip():
                awaited = False
                here[-1] = Hunk(here[-1].start, here[-1].end, _indent(line[1:]))
        elif sign == b"@" and (hunk := _HUNK.match(line)):
            start, removed = int(hunk[1]), int(hunk[2] or 1)
            here.append(Hunk(start, start + removed) if removed else Hunk(start + 1, start + 1))
            awaited = not removed
        elif sign == b"i" and (index := _INDEX.match(line)):
            here = found.setdefault((index[1].decode(), index[2].decode()), [])
            here.clear()  # the same change in another commit
            awaited = False
    return found


def _indent(line: bytes) -> int:
    return len(line[: len(line) - len(line.lstrip())].expandtabs(8))


def _fields(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(_BLOCK):
        *whole, rest = (rest + block).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _parsed(fields: Iterator[bytes]) -> Iterator[Commit]:
    """Four fields a commit, an empty one, then modes and path of each file."""
    name = next(fields, None)
    while name is not None:
        parents, author, message, _ = (next(fields, b"") for _ in range(4))
        changes = []
        entry = next(fields, None)
        while entry is not None and entry.lstrip(b"\n").startswith(b":"):
            before, after, old, new, status = entry.lstrip(b"\n:").decode().split(" ")
            changes.append(
                Change(
                    status[:1],
                    _text(next(fields, b"")),
                    (old, new),
                    before.startswith("100") and after.startswith("100"),
                )
            )
            entry = next(fields, None)
        yield Commit(_text(name).strip(), _text(parents).split(), _text(author), _text(message), changes)
        name = entry


def _text(field: bytes) -> str:
    return field.decode("utf-8", "surrogateescape")


def _started(
    store: GitStore,
    arguments: Sequence[str | bytes],
    stderr: int | IO[bytes],
    stdin: int | IO[bytes] = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["git", f"--git-dir={store.git_dir}", *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=git_environment(),
    )


def _output(store: GitStore, arguments: Sequence[str | bytes], given: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", f"--git-dir={store.git_dir}", *arguments],
        input=given,
        capture_output=True,
        check=False,
        env=git_environment(),
    )
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().split("\n")
        raise RunError(f"{store.git_dir} cannot be read: {lines[-1]}")
    return done.stdout


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    return said.read()[-4096:].decode("utf-8", "replace").strip().split("\n")[-1]
