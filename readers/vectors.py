"""The embeddings of what was read once, kept on disk by its hash and the model's.

A blob and a model together make its vectors, whatever repository holds it. So there is one `CacheFile` a
model: clones and forks share their vectors, and what a model no longer in use has left is one file to delete.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.closing import Closing
from ..core.errors import RunError
from .database import CacheFile, cache_folder

_BATCH = 256  # keys a transaction
_FORMAT = 1  # raise it whenever what is stored of a key changes; older files are left behind
_LARGEST = 127  # the number that the largest of a vector becomes

_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, value BLOB NOT NULL);"
# Before the numbers of a value stand the checksum of all that follows it, the shape, and a scale a vector.
_CHECKSUM = struct.Struct("<I")
_SHAPE = struct.Struct("<II")


class VectorStore(Closing):
    """The vectors of one model.

    They come back rounded, which moves a cosine by less than 0.01.

    Args:
        model: the hash of the model, or whatever else names it and all that its vectors depend on.
        folder: of the caches, `cache_folder` if None.

    Raises:
        RunError: the cache cannot be made or read.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, VectorStore("a model", Path(folder)) as store:
        ...     store.put({"blob": np.array([[1.0, 0.5], [0.0, 2.0]])})
        ...     {key: vectors.round(2).tolist() for key, vectors in store.get(["blob", "other"]).items()}
        {'blob': [[1.0, 0.5], [0.0, 2.0]]}
    """

    def __init__(self, model: str, folder: Path | None = None) -> None:
        name = hashlib.sha256(_key(model)).hexdigest()[:24]
        file = (folder or cache_folder()) / f"vectors-{_FORMAT}" / f"{name}.sqlite"
        self._file = CacheFile(file, _SCHEMA)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def get(self, blobs: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of those blobs that have some, in the order asked for.

        Args:
            blobs: hashes, or any other names of what was embedded.

        Returns:
            Of a blob an array of shape ``(chunks, dimensions)``. One whose row is damaged is missing, as one
            is that was never put, and putting it again mends the row.

        Raises:
            RunError: the cache cannot be read.
        """
        keys = {_key(blob): blob for blob in blobs}
        select = "SELECT key, value FROM vectors WHERE key"
        stored = self._file.run(lambda: dict(self._file.rows(select, keys)))
        found = {blob: _unpacked(stored[key]) for key, blob in keys.items() if key in stored}
        return {blob: vectors for blob, vectors in found.items() if vectors is not None}

    def put(self, vectors: Mapping[str, NDArray[np.floating[Any]]]) -> None:
        """Stores the vectors of some blobs in place of any that they have.

        Args:
            vectors: of each blob an array of shape ``(chunks, dimensions)``; without chunks ``(0, d)``.

        Raises:
            RunError: an array is of another shape or not finite, which names its blob, and nothing is stored;
                or the cache cannot be written.
        """
        rows = [(_key(blob), _packed(blob, array)) for blob, array in vectors.items()]
        self._file.run(lambda: self._write(rows))

    def _write(self, rows: list[tuple[bytes, bytes]]) -> None:
        for start in range(0, len(rows), _BATCH):
            with self._file.transaction() as database:
                batch = rows[start : start + _BATCH]
                database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", batch)


def _key(name: str) -> bytes:
    """Any string as SQLite takes it; half a surrogate pair is no text to it."""
    return name.encode("utf-8", "surrogatepass")


def _packed(blob: str, array: NDArray[np.floating[Any]]) -> bytes:
    """Vectors as they are stored: in a byte a number and a scale a vector, half of what float16 takes.

    Of 6,000 chunks of Python in MiniLM-L6 (384 dimensions, 389 bytes) that moves a cosine by 0.0025 at most
    and by 0.0003 on average, float16 by 0.00005 at most. Where one number makes up most of a vector it may be
    0.007.
    """
    vectors = np.asarray(array, dtype=np.float32)
    if vectors.ndim != 2:
        raise RunError(f"the vectors of {blob!r} have the shape {vectors.shape}, not (chunks, dimensions)")
    if not np.isfinite(vectors).all():
        raise RunError(
            f"the vectors of {blob!r} hold NaN or infinite numbers, which no cosine can be taken of"
        )
    rounded, scales = quantised(vectors)
    body: bytes = _SHAPE.pack(*vectors.shape) + scales.astype("<f4").tobytes() + rounded.tobytes()
    return _CHECKSUM.pack(zlib.crc32(body)) + body


def quantised(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Vectors as int8 with a scale each, whose product they are, about.

    Returns:
        Shape ``(n, d)``, and ``(n,)``; a vector of zeros has the scale 0.
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    scales = np.nextafter(largest / np.float32(_LARGEST), np.float32(0))  # below, or the largest may overflow
    numbers = np.divide(vectors, scales, out=np.zeros_like(vectors), where=scales > 0)
    return np.rint(numbers).clip(-_LARGEST, _LARGEST).astype(np.int8), scales[:, 0]


def rounded(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors as they come back from a store, so that what is new and what was kept give the same values."""
    numbers, scales = quantised(vectors)
    return numbers.astype(np.float32) * scales[:, None]


def _unpacked(value: object) -> NDArray[np.float32] | None:
    """What `_packed` was given, about; None where the bytes are not as it left them."""
    if not isinstance(value, bytes) or len(value) < _CHECKSUM.size + _SHAPE.size:
        return None
    (checksum,), body = _CHECKSUM.unpack_from(value), value[_CHECKSUM.size :]
    chunks, dimensions = _SHAPE.unpack_from(body)
    numbers_at = _SHAPE.size + 4 * chunks
    if zlib.crc32(body) != checksum or len(body) != numbers_at + chunks * dimensions:
        return None
    scales = np.frombuffer(body, "<f4", chunks, _SHAPE.size)[:, None]
    numbers = np.frombuffer(body, np.int8, offset=numbers_at).reshape(chunks, dimensions)
    vectors = numbers.astype(np.float32) * scales
    return vectors if np.isfinite(vectors).all() else None
