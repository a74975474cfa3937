"""What a repository's past says of its files: which changes read like the query, how often and when."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..core.git import GitStore
from .database import CacheFile
from .occurrences import Occurrences
from .vocabulary import Vocabulary
from .words import counted

SCHEMA = """
CREATE TABLE IF NOT EXISTS commits (
    hash TEXT PRIMARY KEY, time INTEGER NOT NULL, terms BLOB NOT NULL, counts BLOB NOT NULL,
    paths TEXT NOT NULL
) WITHOUT ROWID;
"""

MOST_FILES = 20  # a commit of more files is a sweep, which tells of none of them
_MOST_CHARACTERS = 2_000  # of a message
_BATCH = 2_000  # commits a transaction
_ALIKE = 100  # commits whose files are voted for
_YEAR = 365 * 86_400.0


@dataclass(frozen=True)
class History:
    """The commits up to one of them that change at most `MOST_FILES` files.

    Args:
        ages: shape ``(commits,)``, years before the newest, >= 0.
        terms: how often which message holds which term.
        paths: the files that each commit changes.
        ids: numbers of the terms.
    """

    ages: NDArray[np.float64]
    terms: Occurrences
    paths: Sequence[Sequence[str]]
    ids: Mapping[str, int]

    def alike(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        """BM25 of a query's terms over the messages: shape ``(commits,)``, >= 0."""
        return self.terms.postings(self.ids, weights, self._lengths).scores()

    def votes(self, weights: Mapping[str, float], paths: Sequence[str]) -> tuple[NDArray[np.float64], ...]:
        """What the commits whose messages read most like a query say of files, each less the more it changes.

        Returns:
            The sum of their votes and the best of them: shape ``(len(paths),)`` each, >= 0.
        """
        place = {path: number for number, path in enumerate(paths)}
        total, best = np.zeros(len(paths)), np.zeros(len(paths))
        scores = self.alike(weights)
        top = np.argsort(-scores, kind="stable")[:_ALIKE]
        for commit in top[scores[top] > 0].tolist():
            vote = scores[commit] / np.sqrt(len(self.paths[commit]))
            for path in self.paths[commit]:
                if (number := place.get(path)) is not None:
                    total[number] += vote * scores[commit] / scores[top[0]] ** 2
                    best[number] = max(best[number], vote)
        return total, best

    def changes(self, paths: Sequence[str]) -> tuple[NDArray[np.float64], ...]:
        """How often files were changed, how often of late, and the years since the last time.

        Of late a change counts e times less each half year; the years are 10 at most.

        Returns:
            Shape ``(len(paths),)`` each, >= 0.
        """
        ages = [self.ages[self._changed.get(path, [])] for path in paths]
        return (
            np.array([age.size for age in ages], dtype=np.float64),
            np.array([np.exp(-2 * age).sum() for age in ages]),
            np.array([age.min(initial=10.0) for age in ages]),
        )

    @cached_property
    def _lengths(self) -> NDArray[np.float64]:
        return self.terms.lengths(len(self.paths))

    @cached_property
    def _changed(self) -> dict[str, list[int]]:
        changed: dict[str, list[int]] = {}
        for commit, paths in enumerate(self.paths):
            for path in paths:
                changed.setdefault(path, []).append(commit)
        return changed


NO_HISTORY = History(np.zeros(0), Occurrences.joined([]), (), {})


class HistoryIndex:
    """The commits of a repository, read once and kept in a cache file by their names.

    Args:
        store: the repository.
        file: whose schema holds `SCHEMA`.
        vocabulary: of that file.
    """

    def __init__(self, store: GitStore, file: CacheFile, vocabulary: Vocabulary) -> None:
        self._store = store
        self._file = file
        self._vocabulary = vocabulary

    def history(self, commit: str) -> History:
        """The history up to a commit, and with it.

        Raises:
            InputError: the repository has no such commit.
            RunError: its history, or the cache, cannot be read.
        """
        names = self._store.ancestors(commit)
        return self._file.run(lambda: self._read(names), self._vocabulary.forget)

    def _read(self, names: Sequence[str]) -> History:
        self._add(names)
        self._vocabulary.learn()
        select = "SELECT hash, time, terms, counts, paths FROM commits WHERE hash"
        rows = {row[0]: row[1:] for row in self._file.rows(select, names)}
        kept = [rows[name] for name in names if name in rows and rows[name][3]]
        times = np.array([row[0] for row in kept], dtype=np.float64)
        newest = rows[names[0]][0] if names and names[0] in rows else times.max(initial=0.0)
        return History(
            np.maximum(0.0, newest - times) / _YEAR,
            Occurrences.joined(*([np.frombuffer(row[part], np.int32) for row in kept] for part in (1, 2))),
            [row[3].split("\n") for row in kept],
            self._vocabulary.ids,
        )

    def _add(self, names: Sequence[str]) -> None:
        have = {row[0] for row in self._file.database.execute("SELECT hash FROM commits")}
        missing = [name for name in names if name not in have]
        for start in range(0, len(missing), _BATCH):
            read = [
                (name, time, counted(message[:_MOST_CHARACTERS]), paths)
                for name, time, message, paths in self._store.messages(missing[start : start + _BATCH])
            ]
            try:
                with self._file.transaction() as database:
                    self._vocabulary.add((term for _, _, terms, _ in read for term in terms), database)
                    rows = (self._row(*one) for one in read)
                    database.executemany("INSERT OR IGNORE INTO commits VALUES (?, ?, ?, ?, ?)", rows)
            except BaseException:  # what was not written has no number
                self._vocabulary.forget()
                raise

    def _row(
        self, name: str, time: int, terms: Counter[str], paths: Sequence[str]
    ) -> tuple[str, int, bytes, bytes, str]:
        told = "\n".join(paths) if len(paths) <= MOST_FILES else ""
        counts = np.fromiter(terms.values(), np.int32).tobytes()
        return name, time, self._vocabulary.packed(terms), counts, told
