"""Rows from the histories of repositories: a commit's message is the query, what it changed the positives.

A row sees the files of the parent commit and nothing newer; lines and functions are the parent's. A
commit's message was written by someone who had seen the change, which makes it easier than an issue.

A row::

    {"source": "history", "id": "1b40d9367a3e", "repo": "celery/celery", "commit": "…", "parent": "…",
     "query": "RPC result backend …", "files": […],
     "tests": ["t/unit/backends/test_rpc.py"], "beside": ["docs/conf.py"]}

Its files are as `files` tells. Tests and what stands beside the product were changed too, and are no
positives; where nothing else was changed, what stands beside is what the question is about.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ..core.commits import is_bot, moved
from ..core.costs import readable
from ..core.errors import InputError
from ..core.git import GitStore
from ..readers.sources import SOURCES
from .changes import Blobs, Change, Commit, commits, count_commits, hunks, sizes
from .files import by_kind, file_row, is_made
from .functions import Hunk
from .guard import refusal, store_held_out
from .messages import query_of
from .rows import RowsFile

FORMAT = 1  # of the rows; what was begun with another is not gone on with
CHUNK = 500  # commits after which what is done is written down
MOST_FILES = 10  # source files; a commit that touches more is a sweep, not the answer to a question
MOST_CHANGES = 50  # files of any kind
MOST_PLACES = 60  # hunks in all files
MOST_BYTES = 1 << 20  # of a source file that a person wrote

Progress = Callable[[int, int], None]


@dataclass
class Tally:
    """What became of a repository's commits.

    Args:
        commits: that were looked at.
        rows: that were kept.
        dropped: commits that made no row, by reason.
    """

    commits: int = 0
    rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A commit that asks something, before any file is read."""

    commit: Commit
    query: str
    sources: Sequence[Change]
    tests: Sequence[str]
    beside: Sequence[str]


def mine_histories(
    repositories: Sequence[tuple[str, str | Path]],
    out: str | Path,
    suffixes: Sequence[str] = SOURCES,
    most: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Writes the rows of some repositories, newest commits first.

    Killed at any moment and started again, it goes on where it stopped, unless a repository has moved on
    since. The file's bytes depend on the repositories and arguments alone.

    Args:
        repositories: (``owner/name``, folder) each.
        out: file to write; gzipped if it ends in ``.gz``.
        suffixes: endings of the files that can be positives.
        most: newest commits to look at in each repository; all if None.
        progress: called with (commits done, commits to do).

    Returns:
        Commits, rows and why commits made none, in all and by repository, and the seconds of this run.

    Raises:
        InputError: a repository is held out, or has no commit, or none makes a row.
        RunError: a history cannot be read, or the file cannot be written.
    """
    started = time.monotonic()
    if repeated := [name for name, count in Counter(name for name, _ in repositories).items() if count > 1]:
        raise InputError(f"the repository '{repeated[0]}' is given twice; give each another name, NAME=DIR")
    with ExitStack() as stack:
        stores = [(name, stack.enter_context(GitStore(place))) for name, place in repositories]
        for name, store in stores:
            if why := store_held_out(name, store):
                raise refusal(why)
        heads = [store.commit() for _, store in stores]
        to_do = sum(count_commits(store, head, most) for (_, store), head in zip(stores, heads, strict=True))
        settings = {
            "format": FORMAT, "heads": [[name, head] for (name, _), head in zip(stores, heads, strict=True)],
            "suffixes": list(suffixes), "most": most,
        }  # fmt: skip
        file = stack.enter_context(RowsFile(out, settings))
        tallies = _tallies(file.state, stores)
        seen = {_key(row["query"]) for row in file.rows()}
        gone_on = sum(tally.commits for tally in tallies.values())
        for (name, store), head in zip(stores, heads, strict=True):
            tally = tallies[name]
            with closing(commits(store, head, tally.commits, _left(most, tally))) as log:
                while chunk := list(islice(log, CHUNK)):
                    rows = list(_rows(name, store, chunk, tuple(suffixes), seen, tally))
                    file.add(rows, {"repositories": {name: _as_json(one) for name, one in tallies.items()}})
                    if progress:
                        progress(sum(one.commits for one in tallies.values()), to_do)
        summary = _summary(tallies, time.monotonic() - started, gone_on)
        if not summary["rows"]:
            file.discard()
            raise InputError(
                f"no commit of {', '.join(tallies)} makes a row; one takes a message of a few words and a "
                "change of source files that existed before (--suffix names other kinds of files)"
            )
        file.finish()
    return summary


def _left(most: int | None, tally: Tally) -> int | None:
    return None if most is None else most - tally.commits


def _rows(
    repo: str,
    store: GitStore,
    chunk: Sequence[Commit],
    suffixes: tuple[str, ...],
    seen: set[int],
    tally: Tally,
) -> Iterator[dict[str, Any]]:
    """The rows of some commits, in their order; counts all of them."""
    drafts = []
    for commit in chunk:
        draft, reason = _draft(commit, suffixes)
        if draft:
            drafts.append(draft)
        tally.dropped[reason] += not draft
    drafts = _best_told(drafts, tally)
    for draft, files, reason in _with_places(store, drafts):
        key = _key(draft.query)
        if not files or key in seen:
            tally.dropped["repeated" if files else reason] += 1
            continue
        seen.add(key)
        tally.rows += 1
        yield {
            "source": "history",
            "id": draft.commit.name[:12],
            "repo": repo,
            "commit": draft.commit.name,
            "parent": draft.commit.parents[0],
            "query": draft.query,
            "files": files,
            "tests": list(draft.tests),
            "beside": list(draft.beside),
        }
    tally.commits += len(chunk)


def _draft(commit: Commit, suffixes: tuple[str, ...]) -> tuple[_Draft | None, str]:
    """The commit if it asks something about source files, else why not; no file is read."""
    if not commit.parents:
        return None, "root"
    if is_bot(commit.author):
        return None, "bot"
    query, reason = query_of(readable(commit.message), merge=len(commit.parents) > 1)
    if reason:
        return None, reason
    code = {change.path: change for change in commit.changes if change.path.endswith(suffixes)}
    kinds = by_kind(code)
    about = kinds["product"] or kinds["beside"]
    if not about:
        kind = next((kind for kind in ("test", "foreign") if kinds[kind]), "none")
        return None, {"test": "tests alone", "foreign": "vendored or generated", "none": "no source file"}[
            kind
        ]
    if len(about) > MOST_FILES or len(commit.changes) > MOST_CHANGES:
        return None, "many files"
    changes = [(change.status, change.path) for change in commit.changes]
    if moved(changes) * 2 > len(changes):
        return None, "moved"
    sources = [code[path] for path in about if code[path].status == "M" and code[path].regular]
    if not sources:
        return None, "new or deleted files alone"
    before = {path for path, change in code.items() if change.status == "M"}
    tests = [path for path in kinds["test"] if path in before]
    beside = [path for path in kinds["beside"] if path in before and path not in about]
    return _Draft(commit, query, sources, tests, beside), ""


def _best_told(drafts: Sequence[_Draft], tally: Tally) -> list[_Draft]:
    """Of a merge and its only commit, or of a change that was picked twice, the one that says most."""
    longest: dict[tuple[Blobs, ...], int] = {}
    for place, draft in enumerate(drafts):
        change = tuple(one.blobs for one in draft.sources)
        if len(draft.query) > len(drafts[longest.setdefault(change, place)].query):
            longest[change] = place
    tally.dropped["repeated"] += len(drafts) - len(longest)
    return [drafts[place] for place in sorted(longest.values())]


def _with_places(
    store: GitStore, drafts: Sequence[_Draft]
) -> Iterator[tuple[_Draft, list[Mapping[str, Any]], str]]:
    """Each draft with its files, their lines and functions; or with none, and why."""
    all_blobs = {
        blob
        for draft in drafts
        for change in draft.commit.changes
        if change.status == "M"
        for blob in change.blobs
    }
    known = sizes(store, sorted(all_blobs))
    places = _places(store, drafts, known)
    for draft in drafts:
        reasons: Counter[str] = Counter()
        files = []
        for change in draft.sources:
            file, reason = _file(store, change, known, places)
            reasons[reason] += 1
            if file:
                files.append(file)
        if sum(len(file["lines"]) for file in files) > MOST_PLACES:
            yield draft, [], "many places"
        else:
            yield draft, files, reasons.most_common(1)[0][0]


def _places(store: GitStore, drafts: Sequence[_Draft], known: dict[str, int]) -> dict[Blobs, list[Hunk]]:
    """The hunks of all drafts' files: one process for those whose blobs are there, one each for others."""
    whole: list[_Draft] = []
    partly: list[_Draft] = []
    for draft in drafts:
        changed = [change for change in draft.commit.changes if change.status == "M"]
        (whole if all(_is_small(change, known) for change in changed) else partly).append(draft)
    found = hunks(store, [_pair(draft) for draft in whole]) if whole else {}
    if found is None:
        found, partly = {}, list(drafts)
    for draft in partly:
        paths = [change.path for change in draft.sources if _is_small(change, known)]
        if paths:
            found |= hunks(store, [_pair(draft)], paths) or {}
    return found


def _file(
    store: GitStore, change: Change, known: dict[str, int], places: dict[Blobs, list[Hunk]]
) -> tuple[Mapping[str, Any] | None, str]:
    """A file of a row, or why it is none."""
    if any(blob not in known for blob in change.blobs):
        return None, "missing blob"
    if not _is_small(change, known):
        return None, "large file"
    changed = places.get(change.blobs)
    if not changed:
        return None, "white space alone"
    content = store.content(change.blobs[0])
    if content is None:
        return None, "missing blob"
    if is_made(content):
        return None, "vendored or generated"
    return file_row(change.path, content, changed), ""


def _is_small(change: Change, known: dict[str, int]) -> bool:
    return all(known.get(blob, MOST_BYTES + 1) <= MOST_BYTES for blob in change.blobs)


def _pair(draft: _Draft) -> tuple[str, str]:
    return draft.commit.name, draft.commit.parents[0]


def _key(query: str) -> int:
    """Of a query, whatever its white space and case; 64 bits, so that a million of them fit in memory."""
    words = " ".join(query.lower().split()).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest())


def _tallies(state: dict[str, Any], stores: Sequence[tuple[str, GitStore]]) -> dict[str, Tally]:
    """What the state says, else nothing yet, of each repository."""
    told = state.get("repositories", {})
    return {
        name: Tally(told[name]["commits"], told[name]["rows"], Counter(told[name]["dropped"]))
        if name in told
        else Tally()
        for name, _ in stores
    }


def _as_json(tally: Tally) -> dict[str, Any]:
    dropped = {reason: count for reason, count in tally.dropped.most_common() if count}
    return {"commits": tally.commits, "rows": tally.rows, "dropped": dropped}


def _summary(tallies: dict[str, Tally], seconds: float, gone_on: int) -> dict[str, Any]:
    """All tallies together and each; commits that an earlier run did are not in the pace."""
    every = Tally()
    for tally in tallies.values():
        every.commits += tally.commits
        every.rows += tally.rows
        every.dropped.update(tally.dropped)
    done = every.commits - gone_on
    return _as_json(every) | {
        "repositories": {name: _as_json(tally) for name, tally in tallies.items()},
        "seconds": round(seconds, 1),
        "commits_per_minute": round(60 * done / seconds) if seconds else 0,
    }
