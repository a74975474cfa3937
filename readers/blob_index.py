"""The words of every blob of a repository, kept on disk by blob hash.

A commit is searched without reading its files again: only blobs that no earlier commit had are read,
indexed and added. The store is one SQLite file a repository, written in transactions of a few hundred
blobs, so that a kill at any moment loses at most one of them, and two processes may share it. Nothing in it
is precious: a damaged one is made anew, and where the disk is full memory takes its place.
"""

import hashlib
import logging
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType

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

# A full disk or a used-up quota; where it shows in the shared memory of the log it has a number of its own.
_NO_ROOM = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE}
# A file that is not as SQLite left it; nothing written here breaks a constraint of a sound one.
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT}

_log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
_Row = tuple[bytes, bytes, bytes]  # of a blob: the ids of its words, those of its terms, how often each


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
        word_file, word_id: shape ``(w,)`` each, which file holds which word.
        term_file, term_id, term_count: shape ``(t,)`` each, how often which file holds which term.
        ids: of all words and terms, and of some that no file here holds.
        index: that made it.
    """

    files: Sequence[TreeFile]
    word_file: NDArray[np.int32]
    word_id: NDArray[np.int32]
    term_file: NDArray[np.int32]
    term_id: NDArray[np.int32]
    term_count: NDArray[np.int32]
    ids: Mapping[str, int]
    index: "BlobIndex"

    def containing(self, text: str) -> NDArray[np.intp]:
        """Positions of the files whose content holds ``text``, which is letters, digits and underscores."""
        found = [number for word, number in self.ids.items() if text in word]
        held = np.isin(self.word_id, np.array(found, dtype=np.int32))
        return np.unique(self.word_file[held]).astype(np.intp)

    def postings(self, weights: Mapping[str, float]) -> Postings:
        """Where the terms of a query stand."""
        ids = np.array([self.ids.get(term, 0) for term in weights], dtype=np.int32)
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

    Example:
        >>> with GitStore(".") as store, BlobIndex(store) as index:  # doctest: +SKIP
        ...     corpus = index.corpus("HEAD", (".py",))
    """

    def __init__(self, store: GitStore, folder: Path | None = None) -> None:
        self.store = store
        name = hashlib.sha256(os.fsencode(store.git_dir)).hexdigest()[:24]
        self._file = (folder or cache_folder()) / f"words-{_FORMAT}" / f"{name}.sqlite"
        with self._named(OSError, sqlite3.Error):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._database = _opened(self._file)
            except sqlite3.Error as error:
                self._database = self._in_memory(error)
        self._ids: dict[str, int] = {}  # of every word that was read or written so far, in their order
        self._newest = 0

    def __enter__(self) -> "BlobIndex":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

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
            RunError: the cache cannot be read or written.
        """
        files = self.store.files(commit, suffixes)
        blobs = dict.fromkeys(file.blob for file in files)
        with self._named(sqlite3.Error):
            try:
                rows = self._indexed(blobs, progress)
            except sqlite3.Error as error:
                self._replace(error)
                rows = self._indexed(blobs, progress)
        # A partial clone lacks blobs; such a file is known by its path alone.
        held = [rows.get(file.blob, (b"", b"", b"")) for file in files]
        words_of, terms_of, counts_of = (
            [np.frombuffer(row[part], np.int32) for row in held] for part in range(3)
        )
        return Corpus(
            files, _owners(words_of), _joined(words_of), _owners(terms_of), _joined(terms_of),
            _joined(counts_of), self._ids, self,
        )  # fmt: skip

    def _indexed(self, blobs: Mapping[str, None], progress: Progress | None) -> dict[str, _Row]:
        self._add(blobs, progress)
        rows = self._rows(blobs)
        self._learn()
        return rows

    def _rows(self, blobs: Iterable[str]) -> dict[str, _Row]:
        found: dict[str, _Row] = {}
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
            if self._database.in_transaction:  # SQLite ends it by itself where the disk is full
                self._database.execute("ROLLBACK")
            self._forget()
            raise

    def _learn(self) -> None:
        """Reads the words that other runs and processes have added."""
        newer = "SELECT word, id FROM words WHERE id > ? ORDER BY id"
        self._ids.update(self._database.execute(newer, (self._newest,)))
        self._newest = next(reversed(self._ids.values()), 0)

    def _forget(self) -> None:
        # A new mapping: earlier corpora go on with the ids that are theirs.
        self._ids, self._newest = {}, 0

    def _replace(self, error: sqlite3.Error) -> None:
        """Another database for one that failed; raises the error again where none would do better."""
        if _is_damage(error):
            self._database.close()
            with self._named(OSError):
                self._database = _opened(self._file, suspect=True)
        else:
            memory = self._in_memory(error)
            self._database.close()
            self._database = memory
        self._forget()

    def _in_memory(self, error: sqlite3.Error) -> sqlite3.Connection:
        """A database for this run alone; raises the error again if it is not for want of room on the disk."""
        if getattr(error, "sqlite_errorcode", None) not in _NO_ROOM:
            raise error
        _log.warning("the cache in %s cannot grow (%s): this run does without", self._file.parent, error)
        database = sqlite3.connect(":memory:", isolation_level=None)
        database.executescript(_SCHEMA)
        return database

    @contextmanager
    def _named(self, *kinds: type[Exception]) -> Iterator[None]:
        """Errors of these kinds become one that says which folder it is and what to do."""
        try:
            yield
        except kinds as error:
            raise RunError(
                f"the cache in {self._file.parent} cannot be used ({error}); delete it, or name another "
                "folder with FIRSTPAGE_CACHE"
            ) from error

    def _row(self, held: set[str], counted: Counter[str]) -> tuple[bytes, bytes, bytes]:
        return (
            np.fromiter((self._ids[word] for word in held), np.int32).tobytes(),
            np.fromiter((self._ids[term] for term in counted), np.int32).tobytes(),
            np.fromiter(counted.values(), np.int32).tobytes(),
        )


def _opened(file: Path, suspect: bool = False) -> sqlite3.Connection:
    """The database; made if it is not there, made anew if it is damaged.

    ``suspect``: damage has shown, be it in this file or in one that another process has replaced since.
    """
    with _alone(file):
        try:
            database = _connected(file)
            if not suspect or database.execute("PRAGMA integrity_check").fetchone() == ("ok",):
                return database
            database.close()
        except sqlite3.Error as error:
            if not _is_damage(error):
                raise
        for ending in ("", "-wal", "-shm"):
            file.with_name(file.name + ending).unlink(missing_ok=True)
        return _connected(file)


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Keeps other processes from opening the file meanwhile, by a lock that a kill gives back."""
    lock = sqlite3.connect(file.with_suffix(".lock"), timeout=_PATIENCE, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        lock.close()


def _connected(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)
    try:
        _prepare(database)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection) -> None:
    """Turns on the write-ahead log, so that readers go on while one writes, and makes the tables.

    SQLite does not always wait here, whatever its timeout, for another process that opens or closes the
    same file.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


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
