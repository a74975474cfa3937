"""The words of every blob of a repository, kept on disk by blob hash.

A commit is searched without reading its files again: only blobs that no earlier commit had are read,
indexed and added. The store is one SQLite file a repository, written in transactions of a few hundred
blobs, so that a kill at any moment loses at most one of them, and two processes may share it.
"""

import hashlib
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.errors import RunError
from ..core.git import GitStore, TreeFile
from .bm25 import Postings
from .words import terms, words

_BATCH = 256  # blobs a transaction
_PATIENCE = 60.0  # seconds that a process waits for another
_FORMAT = 1  # raise it whenever what is stored of a blob changes; older files are left behind

_SCHEMA = """
CREATE TABLE IF NOT EXISTS words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS blobs (
    hash TEXT PRIMARY KEY, words BLOB NOT NULL, terms BLOB NOT NULL, counts BLOB NOT NULL
) WITHOUT ROWID;
"""

Progress = Callable[[int, int], None]


def cache_folder() -> Path:
    """Where caches live: ``$FIRSTPAGE_CACHE``, else ``$XDG_CACHE_HOME/firstpage``, else ``~/.cache``."""
    if named := os.environ.get("FIRSTPAGE_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "firstpage"


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files of one commit with their words.

    Args:
        files: in tree order.
        word_file, word_id: shape ``(w,)`` each, which file holds which word (ids of the index).
        term_file, term_id, term_count: shape ``(t,)`` each, how often which file holds which term.
        index: where the words' ids come from.
    """

    files: Sequence[TreeFile]
    word_file: NDArray[np.int32]
    word_id: NDArray[np.int32]
    term_file: NDArray[np.int32]
    term_id: NDArray[np.int32]
    term_count: NDArray[np.int32]
    index: "BlobIndex"

    def containing(self, text: str) -> NDArray[np.intp]:
        """Positions of the files whose content holds ``text``, which is letters, digits and underscores."""
        held = np.isin(self.word_id, self.index.words_with(text))
        return np.unique(self.word_file[held]).astype(np.intp)

    def postings(self, weights: Mapping[str, float]) -> Postings:
        """Where the terms of a query stand."""
        ids = self.index.ids(weights)
        order = np.argsort(ids)
        held = np.flatnonzero(np.isin(self.term_id, ids[ids > 0]))
        return Postings(
            self.term_file[held].astype(np.intp),
            order[np.searchsorted(ids, self.term_id[held], sorter=order)].astype(np.intp),
            self.term_count[held].astype(np.float64),
            np.bincount(self.term_file, self.term_count, len(self.files)).astype(np.float64),
            np.array(list(weights.values()), dtype=np.float64),
        )


class BlobIndex:
    """The words of a repository's blobs.

    Args:
        store: the repository; closing it is the caller's business.
        folder: of the caches, `cache_folder` if None.

    Raises:
        RunError: the cache cannot be made or read.
    """

    def __init__(self, store: GitStore, folder: Path | None = None) -> None:
        self.store = store
        folder = (folder or cache_folder()) / f"words-{_FORMAT}"
        name = hashlib.sha256(os.fsencode(store.git_dir)).hexdigest()[:24]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = _opened(folder / f"{name}.sqlite")
        except (OSError, sqlite3.Error) as error:
            raise RunError(
                f"the cache in {folder} cannot be used ({error}); delete it, or name another folder with "
                "FIRSTPAGE_CACHE"
            ) from error
        self._ids: dict[str, int] = {}  # every word that this process has read or written
        self._newest = 0

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def corpus(self, commit: str, suffixes: Sequence[str], progress: Progress | None = None) -> Corpus:
        """The files of a commit that end in one of ``suffixes``, indexed where they were not yet.

        Args:
            commit: any name of a commit.
            suffixes: such as ``(".py", ".pyi")``; all regular files if empty.
            progress: called with the numbers of blobs done and to do.

        Raises:
            InputError: the repository has no such commit.
        """
        files = self.store.files(commit, suffixes)
        self._add(dict.fromkeys(file.blob for file in files), progress)
        rows = self._rows({file.blob for file in files})
        # A partial clone lacks blobs; such a file is known by its path alone.
        held = [rows.get(file.blob, (b"", b"", b"")) for file in files]
        words_of, terms_of, counts_of = (
            [np.frombuffer(row[part], np.int32) for row in held] for part in range(3)
        )
        return Corpus(
            files, _owners(words_of), _joined(words_of), _owners(terms_of), _joined(terms_of),
            _joined(counts_of), self,
        )  # fmt: skip

    def words_with(self, text: str) -> NDArray[np.int32]:
        """Ids of the words that hold ``text``, case and all."""
        found = self._database.execute("SELECT id FROM words WHERE instr(word, ?) > 0", (text,))
        return np.fromiter((row[0] for row in found), dtype=np.int32)

    def ids(self, names: Iterable[str]) -> NDArray[np.int32]:
        """The id of each term, 0 for one that no blob holds."""
        one = "SELECT id FROM words WHERE word = ?"
        found = (self._database.execute(one, (name,)).fetchone() for name in names)
        return np.fromiter((row[0] if row else 0 for row in found), dtype=np.int32)

    def _rows(self, blobs: set[str]) -> dict[str, tuple[bytes, bytes, bytes]]:
        found: dict[str, tuple[bytes, bytes, bytes]] = {}
        asked = iter(blobs)
        while some := list(islice(asked, 500)):
            marks = ",".join("?" * len(some))
            one = f"SELECT hash, words, terms, counts FROM blobs WHERE hash IN ({marks})"  # noqa: S608
            found.update((row[0], row[1:]) for row in self._database.execute(one, some))
        return found

    def _add(self, blobs: Iterable[str], progress: Progress | None) -> None:
        have = {row[0] for row in self._database.execute("SELECT hash FROM blobs")}
        missing = [blob for blob in blobs if blob not in have]
        for start in range(0, len(missing), _BATCH):
            if progress:
                progress(start, len(missing))
            batch = self.store.contents(missing[start : start + _BATCH])
            self._write([(blob, *_read(content)) for blob, content in batch if content is not None])
        if progress and missing:
            progress(len(missing), len(missing))

    def _write(self, batch: Sequence[tuple[str, set[str], Counter[str]]]) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            self._learn()
            new = dict.fromkeys(
                word for _, held, counted in batch for word in (*held, *counted) if word not in self._ids
            )
            numbered = list(enumerate(new, self._newest + 1))
            self._database.executemany("INSERT INTO words VALUES (?, ?)", numbered)
            self._ids.update((word, number) for number, word in numbered)
            self._newest += len(numbered)
            rows = ((blob, *self._row(held, counted)) for blob, held, counted in batch)
            self._database.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?)", rows)
            self._database.execute("COMMIT")
        except BaseException:
            self._database.execute("ROLLBACK")
            self._ids, self._newest = {}, 0
            raise

    def _learn(self) -> None:
        """Reads the words that other runs and processes have added."""
        newer = "SELECT id, word FROM words WHERE id > ?"
        for number, word in self._database.execute(newer, (self._newest,)):
            self._ids[word] = number
            self._newest = max(self._newest, number)

    def _row(self, held: set[str], counted: Counter[str]) -> tuple[bytes, bytes, bytes]:
        return (
            np.fromiter((self._ids[word] for word in held), np.int32).tobytes(),
            np.fromiter((self._ids[term] for term in counted), np.int32).tobytes(),
            np.fromiter(counted.values(), np.int32).tobytes(),
        )


def _opened(file: Path) -> sqlite3.Connection:
    """The database, made if it is not there."""
    database = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)
    _log_ahead(database)
    database.execute("PRAGMA synchronous=NORMAL")
    database.executescript(_SCHEMA)
    return database


def _log_ahead(database: sqlite3.Connection) -> None:
    """Turns on the write-ahead log, so that readers go on while one writes.

    SQLite does not wait here, whatever its timeout, when another process opens the same new file.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _read(content: bytes) -> tuple[set[str], Counter[str]]:
    """The words of a file, less bare numbers, which no keyword is part of; and how often each term."""
    counted = Counter(words(content.decode("utf-8", "replace")))
    by_term: Counter[str] = Counter()
    for word, count in counted.items():
        for term in terms(word):
            by_term[term] += count
    return {word for word in counted if not word.isdigit()}, by_term


def _owners(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.repeat(np.arange(len(parts), dtype=np.int32), [part.size for part in parts])


def _joined(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
