"""Rows on disk: JSON Lines, gzipped where the name ends in ``.gz``, with the same bytes whenever written."""

import gzip
import json
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self, cast

from ..core.closing import Closing
from ..core.errors import InputError, MissingExtraError, RunError
from ..core.files import lock, write_atomically

Row = Mapping[str, Any]


class RowsFile(Closing):
    """A file of rows that appears when it is whole, and whose writing can be killed at any moment and go on.

    What is written so far stands in ``FILE.part/``: the rows, and a state that names how many bytes of
    them count. A state of other settings is not gone on with.

    Args:
        path: of the file; missing folders are made.
        settings: what the rows depend on; None starts over each time.

    Raises:
        InputError: the path is a folder, or another process is writing it.
        RunError: the disk cannot be written to.

    Example:
        >>> with RowsFile("rows.jsonl.gz", {"heads": []}) as file:  # doctest: +SKIP
        ...     for rows, done in work(file.state):
        ...         file.add(rows, done)
        ...     file.finish()
    """

    def __init__(self, path: str | Path, settings: Mapping[str, Any] | None = None) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise InputError(f"--out '{path}' is a folder; name a file such as rows.jsonl.gz")
        self._folder = self.path.with_name(self.path.name + ".part")
        self._rows = self._folder / "rows"
        self._settings = json.loads(json.dumps(settings))
        self._packed = self.path.suffix == ".gz"
        self.state: dict[str, Any] = {}
        self._file: IO[bytes]

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = self._rows.open("ab")
            lock(self._file, f"another process is writing '{self.path}'; wait for it or name another file")
            self._file.truncate(self._load())
            self._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise _unwritten(self.path, error) from error
        return self

    def close(self) -> None:
        """Lets other processes write it."""
        self._file.close()

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows that count so far."""
        with _opened(self._rows, self._packed) as file:
            for line in file:
                yield json.loads(line)

    def add(self, rows: Iterable[Row], state: Mapping[str, Any]) -> None:
        """Appends rows, and from then on going on means going on after them.

        Args:
            rows: in their order.
            state: whatever `state` is to be when the writing goes on.

        Raises:
            RunError: the disk is full or cannot be written to.
        """
        body = "".join(f"{line_of(row)}\n" for row in rows).encode()
        try:
            if body:
                self._file.write(_pack(body) if self._packed else body)
                self._file.flush()
                os.fsync(self._file.fileno())
            size = self._file.tell()
        except OSError as error:
            raise _unwritten(self.path, error) from error
        kept = {"settings": self._settings, "bytes": size, "state": state}
        write_atomically(self._folder / "state.json", json.dumps(kept))
        self.state = dict(state)

    def finish(self) -> None:
        """Puts the file in its place."""
        try:
            self._rows.replace(self.path)
        except OSError as error:
            raise _unwritten(self.path, error) from error
        self.discard()

    def discard(self) -> None:
        """Removes what is written so far."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _load(self) -> int:
        """Takes up the state; how many bytes of rows belong to it."""
        if self._settings is None:
            return 0
        with suppress(OSError, ValueError, TypeError, KeyError):
            kept = json.loads((self._folder / "state.json").read_bytes())
            size = int(kept["bytes"])
            if kept["settings"] == self._settings and size <= self._rows.stat().st_size:
                self.state = dict(kept["state"])
                return size
        return 0


def line_of(row: Row) -> str:
    """A row as one line of JSON; half a surrogate pair becomes a question mark."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def write_rows(path: str | Path, rows: Iterable[Row]) -> int:
    """Writes a whole file of rows; how many there were.

    Raises:
        InputError: the path is a folder, or another process is writing it, or there is no row.
        RunError: the disk is full or cannot be written to.
    """
    count, some = 0, []
    with RowsFile(path) as file:
        try:
            for row in rows:
                some.append(row)
                count += 1
                if len(some) == 1000:
                    file.add(some, {})
                    some = []
            file.add(some, {})
        except BaseException:
            file.discard()
            raise
        if not count:
            file.discard()
            return 0
        file.finish()
    return count


def read_rows(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a JSON Lines, JSON or Parquet file, each with what to call it in a message.

    Lines and Parquet are read as they are asked for.

    Args:
        path: ``.jsonl`` or any other ending for JSON Lines, ``.json`` for one array, each also with
            ``.gz``, or ``.parquet``.

    Raises:
        InputError: the file cannot be read, or a row is no object.
        MissingExtraError: what reads Parquet is not installed.
    """
    path = Path(path)
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    rows = {".parquet": _parquet, ".json": _array}.get(kind, _lines)(path)
    for name, row in rows:
        if not isinstance(row, dict):
            raise InputError(f"{name} is no object")
        yield name, row


def field(name: str, row: Row, key: str, kind: type = str) -> Any:
    """A field of a row.

    Args:
        name: what to call the row.
        row: that was read.
        key: of the field.
        kind: what the field must be, str or list.

    Raises:
        InputError: it is not there or of another kind.
    """
    value = row.get(key)
    if not isinstance(value, kind):
        raise InputError(f"{name} needs the field '{key}', a {'string' if kind is str else 'list'}")
    return value


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        with _opened(path, path.suffix == ".gz") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield f"{path}, line {number}", _parsed(f"{path}, line {number}", line)
    except (OSError, EOFError, zlib.error) as error:
        raise _unread(path, error) from error


def _opened(path: Path, packed: bool) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if packed else path.open("rb")


def _array(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise _unread(path, error) from error
    rows = _parsed(str(path), content)
    if not isinstance(rows, list):
        raise InputError(f"'{path}' must hold one JSON array of objects; use .jsonl for one object a line")
    yield from ((f"{path}, object {number}", row) for number, row in enumerate(rows, 1))


def _parquet(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("reading Parquet", "train") from None
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(1000):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path}, row {number}", row
    except (OSError, pa.ArrowException) as error:
        raise _unread(path, error) from error


def _parsed(name: str, text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is no JSON: {error}") from error


def _pack(body: bytes) -> bytes:
    """One gzip member, without a time; members in a row make one file."""
    packing = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packing.compress(body) + packing.flush()


def _unwritten(path: Path, error: OSError) -> RunError:
    return RunError(f"cannot write '{path}': {error.strerror or error}")


def _unread(path: Path, error: Exception) -> InputError:
    return InputError(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}")
