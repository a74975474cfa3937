"""The words of every blob of a repository, and of every commit's message, kept on disk by their names.

A commit is searched without reading its files again: only blobs that no earlier commit had are read,
indexed and added. The store is one `CacheFile` a repository, written in transactions of a few hundred blobs.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..core.closing import Closing
from ..core.git import GitStore
from . import history, vocabulary
from .corpus import Corpus, facts_of
from .database import CacheFile, cache_folder
from .occurrences import Occurrences

_BATCH = 256  # blobs a transaction
_FORMAT = 2  # raise it whenever what is stored of a blob changes; older files are left behind

_SCHEMA = """
CREATE TABLE IF NOT EXISTS blobs (
    hash TEXT PRIMARY KEY, size INTEGER NOT NULL, words BLOB NOT NULL, terms BLOB NOT NULL,
    counts BLOB NOT NULL, names BLOB NOT NULL, kinds BLOB NOT NULL
) WITHOUT ROWID;
"""

# Of a blob: its characters; its words, its terms and how often each, the names it defines and of what kind.
_Row = tuple[int, tuple[bytes, ...]]
_Facts = tuple[int, set[str], Counter[str], dict[str, int]]
_UNKNOWN: _Row = (0, (b"",) * 5)  # a partial clone lacks blobs; such a file is known by its path

Progress = Callable[[int, int], None]


class BlobIndex(Closing):
    """The words of a repository's blobs.

    Args:
        store: the repository; closing it is the caller's business.
        folder: of the caches, `cache_folder` if None.

    Raises:
        RunError: the cache cannot be made or read.

    Example:
        >>> with GitStore(".") as store, BlobIndex(store) as index:  # doctest: +SKIP
        ...     corpus = index.corpus("HEAD", (".py",))
    """

    def __init__(self, store: GitStore, folder: Path | None = None) -> None:
        self.store = store
        name = hashlib.sha256(os.fsencode(store.git_dir)).hexdigest()[:24]
        file = (folder or cache_folder()) / f"words-{_FORMAT}" / f"{name}.sqlite"
        self._file = CacheFile(file, vocabulary.SCHEMA + _SCHEMA + history.SCHEMA)
        self._vocabulary = vocabulary.Vocabulary(self._file)
        self._history = history.HistoryIndex(store, self._file, self._vocabulary)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def corpus(self, commit: str, suffixes: Sequence[str], progress: Progress | None = None) -> Corpus:
        """The files of a commit that end in one of ``suffixes``, indexed where they were not yet.

        Args:
            commit: any name of a commit.
            suffixes: such as ``(".py", ".pyi")``; all regular files if empty.
            progress: called with the numbers of blobs done and to do.

        Raises:
            InputError: the repository has no such commit.
            RunError: the cache cannot be read or written.
        """
        files = self.store.files(commit, suffixes)
        blobs = dict.fromkeys(file.blob for file in files)
        found = self._file.run(lambda: self._indexed(blobs, progress), self._vocabulary.forget)
        rows = [found.get(file.blob, _UNKNOWN) for file in files]
        held, terms, counts, names, kinds = (
            [np.frombuffer(row[1][part], np.int32) for row in rows] for part in range(5)
        )
        return Corpus(
            files,
            Occurrences.joined(held),
            Occurrences.joined(terms, counts),
            Occurrences.joined(names, kinds),
            np.array([row[0] for row in rows], dtype=np.int64),
            self._vocabulary.ids,
            self,
            commit,
        )

    def history(self, commit: str) -> history.History:
        """The commits up to one, read where they were not yet.

        Raises:
            InputError: the repository has no such commit.
            RunError: the history, or the cache, cannot be read.
        """
        return self._history.history(commit)

    def _indexed(self, blobs: Mapping[str, None], progress: Progress | None) -> dict[str, _Row]:
        self._add(blobs, progress)
        select = "SELECT hash, size, words, terms, counts, names, kinds FROM blobs WHERE hash"
        rows = {row[0]: (row[1], row[2:]) for row in self._file.rows(select, blobs)}
        self._vocabulary.learn()
        return rows

    def _add(self, blobs: Iterable[str], progress: Progress | None) -> None:
        have = {row[0] for row in self._file.database.execute("SELECT hash FROM blobs")}
        missing = [blob for blob in blobs if blob not in have]
        for start in range(0, len(missing), _BATCH):
            if progress:
                progress(start, len(missing))
            batch = self.store.contents(missing[start : start + _BATCH])
            self._write([(blob, _read(content)) for blob, content in batch if content is not None])
        if progress and missing:
            progress(len(missing), len(missing))

    def _write(self, batch: Sequence[tuple[str, _Facts]]) -> None:
        try:
            with self._file.transaction() as database:
                every = (word for _, (_, *parts) in batch for part in parts for word in part)
                self._vocabulary.add(every, database)
                rows = ((blob, facts[0], *self._packed(*facts[1:])) for blob, facts in batch)
                database.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        except BaseException:  # what was not written has no number
            self._vocabulary.forget()
            raise

    def _packed(self, held: set[str], counted: Counter[str], names: Mapping[str, int]) -> tuple[bytes, ...]:
        packed = self._vocabulary.packed
        counts = np.fromiter(counted.values(), np.int32).tobytes()
        kinds = np.fromiter(names.values(), np.int32).tobytes()
        return packed(held), packed(counted), counts, packed(names), kinds


def _read(content: bytes) -> _Facts:
    text = content.decode("utf-8", "replace")
    return len(text), *facts_of(text)
