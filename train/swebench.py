"""Rows from tasks in SWE-bench's format, of any repository: the issue is the query, its patch the positives.

A row is as in `history`, with ``"source": "swebench"``, the task's name as ``id``, its base commit as
``parent`` and no ``commit``, which such tasks do not name. Functions are told where the repository is at
hand.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.formats._names import lookup_path
from ..core.formats.diff import parse_diff
from ..core.git import GitStore
from ..readers.sources import SOURCES
from .changes import blobs_of
from .files import by_kind, file_row
from .functions import Hunk
from .guard import refusal, row_held_out, store_held_out
from .rows import Row, field, read_rows, write_rows

FIELDS = ("instance_id", "repo", "base_commit", "problem_statement", "patch")

_HEAD = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_NEW = re.compile(r"^(?:new file mode |--- /dev/null\b)", re.MULTILINE)
_RENAMED = re.compile(r"^rename from (.*?)\r?$", re.MULTILINE)


def mine_swebench(
    tasks: Sequence[str | Path],
    out: str | Path,
    repositories: Mapping[str, str | Path] | None = None,
    suffixes: Sequence[str] = SOURCES,
    purpose: str = "neural",
    leave_out: bool = False,
    progress: Callable[[], None] | None = None,
) -> dict[str, Any]:
    """Writes the rows of files of tasks, in their order.

    Args:
        tasks: files of JSON Lines, JSON or Parquet.
        out: file to write; gzipped if it ends in ``.gz``.
        repositories: folder by ``owner/name``, for the functions; those not in it are told without.
        suffixes: endings of the files that can be positives.
        purpose: ``neural`` or ``fusion``, which may see the development tasks.
        leave_out: whether what is held out is left out instead of refused.
        progress: called after each task.

    Returns:
        Tasks, rows and why tasks made none.

    Raises:
        InputError: a file cannot be read, a row is no task or is there twice, something is held out, or
            nothing makes a row.
        RunError: the file cannot be written.
    """
    dropped: Counter[str] = Counter()
    count = 0
    with ExitStack() as stack:
        stores = {}
        for name, place in (repositories or {}).items():
            store = stack.enter_context(GitStore(place))
            if why := store_held_out(name, store, purpose):
                if not leave_out:
                    raise refusal(why)
                continue
            stores[name] = store

        def rows() -> Iterator[Row]:
            nonlocal count
            for name, task in _tasks(tasks):
                count += 1
                row, reason = _row(name, task, stores.get(task["repo"]), tuple(suffixes), purpose, leave_out)
                if row:
                    yield row
                else:
                    dropped[reason] += 1
                if progress:
                    progress()

        written = write_rows(out, rows())
    if not written:
        reasons = ", ".join(f"{reason} {number}" for reason, number in dropped.most_common()) or "it has none"
        raise InputError(f"no task of '{tasks[0]}' makes a row ({reasons})")
    return {"tasks": count, "rows": written, "dropped": dict(dropped.most_common())}


def count_tasks(tasks: Sequence[str | Path]) -> int:
    """How many tasks the files hold; all are checked to be some.

    Raises:
        InputError: a file cannot be read, or a row is no task or is there twice.
    """
    return sum(1 for _ in _tasks(tasks))


def repositories_of(tasks: Sequence[str | Path]) -> list[str]:
    """The names of the repositories that the tasks are about."""
    return sorted({row["repo"] for _, row in _tasks(tasks)})


def _tasks(paths: Sequence[str | Path]) -> Iterator[tuple[str, Row]]:
    seen: set[str] = set()
    for path in paths:
        for name, row in read_rows(path):
            for key in FIELDS:
                field(name, row, key)
            if row["instance_id"] in seen:
                raise InputError(f"{name} repeats the task '{row['instance_id']}'")
            seen.add(row["instance_id"])
            yield name, row


def _row(
    name: str, task: Row, store: GitStore | None, suffixes: tuple[str, ...], purpose: str, leave_out: bool
) -> tuple[Row | None, str]:
    """The task as a row, or why it makes none."""
    row = {
        "source": "swebench",
        "id": task["instance_id"],
        "repo": task["repo"],
        "commit": "",
        "parent": task["base_commit"],
        "query": task["problem_statement"].replace("\r\n", "\n").strip(),
    }
    if why := row_held_out(row, purpose):
        if not leave_out:
            raise refusal(why, name)
        return None, "held out"
    if not row["query"]:
        return None, "no text"
    changed = {path: hunks for path, hunks in patched(task["patch"]).items() if path.endswith(suffixes)}
    kinds = by_kind(changed)
    about = kinds["product"] or kinds["beside"]
    if not about:
        return None, "no source file that existed before"
    contents = _contents(store, task["base_commit"], about) if store else {}
    row["files"] = [file_row(path, contents.get(path), changed[path]) for path in about]
    row["tests"] = kinds["test"]
    row["beside"] = [path for path in kinds["beside"] if path not in about]
    return row, ""


def patched(patch: str) -> dict[str, list[Hunk]]:
    r"""The files that a patch changes and that were there before, by their old names, with the places.

    Example:
        >>> patched("--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,2 @@\n a\n-b\n c\n")
        {'x.py': [Hunk(start=2, end=3, indent=0)]}
    """
    found: dict[str, list[Hunk]] = {}
    for file in parse_diff(patch).items:
        header = file.text.partition("\n@@")[0]
        if _NEW.search(header) or not file.path:
            continue
        renamed = _RENAMED.search(header)
        if hunks := _hunks(file.text.split("\n")):
            found.setdefault(lookup_path(renamed[1]) if renamed else file.path, []).extend(hunks)
    return found


def _hunks(lines: Sequence[str]) -> list[Hunk]:
    """The runs of removed and added lines, in numbers of the old file."""
    found: list[Hunk] = []
    at = 0  # number of the old file's next line; 0 before the first hunk
    start, added = 0, ""

    def close() -> None:
        nonlocal start, added
        if start:
            indent = 0 if at > start else len(added) - len(added.lstrip())
            found.append(Hunk(start, at, indent))
        start, added = 0, ""

    for line in lines:
        if head := _HEAD.match(line):
            close()
            at = int(head[1]) + (",0 +" in head[0])
        elif at and line[:1] in {"-", "+"}:
            start = start or at
            at += line[0] == "-"
            if line[0] == "+" and not added.strip():
                added = line[1:].expandtabs(8)
        elif at and not line.startswith("\\"):
            close()
            at += 1
    close()
    return found


def _contents(store: GitStore, commit: str, paths: Sequence[str]) -> dict[str, bytes | None]:
    return {path: store.content(blob) for path, blob in blobs_of(store, store.commit(commit), paths).items()}
