"""SQLite files in which nothing is precious: the caches of what readers have worked out once.

Whatever happens to such a file, an answer comes: a damaged one is made anew, and where the disk is full
memory takes its place. Two processes may share one, and a kill at any moment loses at most the transaction
that was open.
"""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ..core.closing import Closing
from ..core.errors import RunError

_PATIENCE = 60.0  # seconds that a process waits for another
_ASKED_AT_ONCE = 500  # keys a statement; SQLite takes 999 at least

# A full disk or a used-up quota; where it shows in the shared memory of the log it has a number of its own.
_NO_ROOM = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE}
# A file that is not as SQLite left it; nothing written here breaks a constraint of a sound one.
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT}

_log = logging.getLogger(__name__)

T = TypeVar("T")


def cache_folder() -> Path:
    """Where caches live: ``$FIRSTPAGE_CACHE``, else ``$XDG_CACHE_HOME/firstpage``, else ``~/.cache``."""
    if named := os.environ.get("FIRSTPAGE_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "firstpage"


class CacheFile(Closing):
    """A database that is made where it is not there, and made anew where it is damaged.

    Args:
        file: of the database; its folder is made too.
        schema: the statements that make its tables where they are missing.

    Attributes:
        database: the open connection, another one after damage or a full disk, so not to be kept.

    Raises:
        RunError: the file cannot be made or read.

    Example:
        >>> import tempfile
        >>> schema = "CREATE TABLE IF NOT EXISTS ages (name TEXT PRIMARY KEY, age INTEGER NOT NULL)"
        >>> folder = tempfile.TemporaryDirectory()
        >>> with folder as name, CacheFile(Path(name) / "a.sqlite", schema) as file:
        ...     def work() -> list[tuple[str, int]]:
        ...         with file.transaction() as database:
        ...             database.execute("INSERT INTO ages VALUES ('Ada', 36)")
        ...         return list(file.rows("SELECT name, age FROM ages WHERE name", ["Ada", "Bob"]))
        ...     file.run(work)
        [('Ada', 36)]
    """

    def __init__(self, file: Path, schema: str) -> None:
        self._file = file
        self._schema = schema
        with self._named(OSError, sqlite3.Error):
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                self.database = self._opened()
            except sqlite3.Error as error:
                self.database = self._in_memory(error)

    def close(self) -> None:
        """Closes the file."""
        self.database.close()

    def run(self, work: Callable[[], T], afresh: Callable[[], None] = lambda: None) -> T:
        """What ``work`` gives; where the database fails it is replaced and all the work done once more.

        Args:
            work: reads and writes; what it does twice must not harm.
            afresh: forgets, before the second time, what is known of the database that failed.

        Raises:
            RunError: the file can be neither used nor replaced.
        """
        with self._named(sqlite3.Error):
            try:
                return work()
            except sqlite3.Error as error:
                self._replace(error)
                afresh()
                return work()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Writes all of a block or, if it fails, nothing; other processes write before or after."""
        database = self.database
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:  # SQLite ends it by itself where the disk is full
                database.execute("ROLLBACK")
            raise

    def rows(self, select: str, keys: Iterable[str | bytes]) -> Iterator[tuple[Any, ...]]:
        """The rows of those keys that the database has, in no certain order.

        Args:
            select: a statement up to and with the name of the key's column.
            keys: any number, each once.
        """
        asked = iter(keys)
        while some := list(islice(asked, _ASKED_AT_ONCE)):
            yield from self.database.execute(f"{select} IN ({','.join('?' * len(some))})", some)

    def _replace(self, error: sqlite3.Error) -> None:
        """Another database for one that failed; raises the error again where none would do better."""
        if _is_damage(error):
            self.database.close()
            with self._named(OSError):
                self.database = self._opened(suspect=True)
        else:
            memory = self._in_memory(error)
            self.database.close()
            self.database = memory

    def _in_memory(self, error: sqlite3.Error) -> sqlite3.Connection:
        """A database for this run alone; raises the error again if it is not for want of room on the disk."""
        if getattr(error, "sqlite_errorcode", None) not in _NO_ROOM:
            raise error
        _log.warning("the cache in %s cannot grow (%s): this run does without", self._file.parent, error)
        database = sqlite3.connect(":memory:", isolation_level=None)
        database.executescript(self._schema)
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

    def _opened(self, suspect: bool = False) -> sqlite3.Connection:
        """The database; made if it is not there, made anew if it is damaged.

        ``suspect``: damage has shown, be it in this file or in one that another process has replaced since.
        """
        with _alone(self._file):
            try:
                database = self._connected()
                if not suspect or database.execute("PRAGMA integrity_check").fetchone() == ("ok",):
                    return database
                database.close()
            except sqlite3.Error as error:
                if not _is_damage(error):
                    raise
            for ending in ("", "-wal", "-shm"):
                self._file.with_name(self._file.name + ending).unlink(missing_ok=True)
            return self._connected()

    def _connected(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._file, timeout=_PATIENCE, isolation_level=None)
        try:
            _prepare(database, self._schema)
        except sqlite3.Error:
            database.close()
            raise
        return database


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Keeps other processes from opening the file meanwhile, by a lock that a kill gives back."""
    lock = sqlite3.connect(file.with_suffix(".lock"), timeout=_PATIENCE, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        lock.close()


def _prepare(database: sqlite3.Connection, schema: str) -> None:
    """Turns on the write-ahead log, so that readers go on while one writes, and makes the tables.

    SQLite does not always wait here, whatever its timeout, for another process that opens or closes the
    same file.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.executescript(schema)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE
