"""Rows as a Parquet file."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import MissingExtraError


def parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The rows as a Parquet file, a column for each key of the first.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("writing Parquet files", "eval") from None
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), sink, compression="zstd")
    return sink.getvalue()
