"""Mined rows as a data set in memory, after the guard has looked at them."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, MissingExtraError
from .guard import PURPOSES, check_rows
from .rows import Row, line_of, read_rows

if TYPE_CHECKING:
    import datasets

_CODE = ("source", "id", "repo", "commit", "parent", "query", "files", "tests", "beside")
_EVIDENCE = ("source", "set", "doc_id", "id", "query", "spans", "split")
_PART = 10_000  # rows


def load_rows(paths: Sequence[str | Path], purpose: str = "neural") -> "datasets.Dataset":
    """The rows of mined files, in their order.

    Args:
        paths: what ``firstpage mine`` wrote; either of repositories or of documents.
        purpose: ``neural`` or ``fusion``, which may see the development tasks.

    Returns:
        A `datasets.Dataset` in memory, with the columns of the rows.

    Raises:
        InputError: a file cannot be read, a row is none of these or held out, or there is none.
        MissingExtraError: datasets is not installed.

    Example:
        >>> load_rows(["rows.jsonl.gz"]).shuffle(seed=1)[0]["query"]  # doctest: +SKIP
        'RPC result backend recirculates final results on every state poll'
    """
    needs_datasets()
    if purpose not in PURPOSES:
        raise InputError(f"there is no purpose '{purpose}'; there are {' and '.join(PURPOSES)}")
    rows = list(_checked(paths, purpose))
    if not rows:
        raise InputError(f"there is no row in {', '.join(map(str, paths))}")
    return in_memory(rows, _features(rows[0]))


def needs_datasets() -> None:
    """Makes sure of the library before any row is read.

    Raises:
        MissingExtraError: datasets is not installed.
    """
    try:
        import datasets  # noqa: F401
    except ImportError:
        raise MissingExtraError("a data set in memory", "train") from None


def in_memory(rows: Sequence[Row], features: Mapping[str, Any]) -> "datasets.Dataset":
    """Rows, which all have the fields of ``features``, as a `datasets.Dataset` in memory."""
    import datasets
    import pyarrow as pa
    from datasets.table import InMemoryTable

    # By content: what is computed from the same rows is found again in the cache. To make one up, `datasets`
    # would pickle the table, which it cannot with every pyarrow.
    digest = hashlib.sha256()
    for row in rows:
        digest.update(f"{line_of(row)}\n".encode())
    columns = datasets.Features(features)
    # In parts, as one array of text holds at most 2 GiB.
    parts = [
        pa.Table.from_pylist(rows[start : start + _PART], schema=columns.arrow_schema)
        for start in range(0, max(1, len(rows)), _PART)  # no rows are one empty part
    ]
    return datasets.Dataset(
        InMemoryTable(pa.concat_tables(parts)),
        info=datasets.DatasetInfo(features=columns),
        fingerprint=digest.hexdigest()[:16],
    )


def _checked(paths: Sequence[str | Path], purpose: str) -> Iterator[Row]:
    columns: tuple[str, ...] = ()
    for name, row in chain.from_iterable(map(read_rows, paths)):
        columns = columns or (_EVIDENCE if row.get("source") == "evidence" else _CODE)
        if missing := [column for column in columns if column not in row]:
            kind = "documents" if columns == _EVIDENCE else "repositories"
            raise InputError(f"{name} needs the field '{missing[0]}' of rows that were mined from {kind}")
        check_rows([(name, row)], purpose)
        yield {column: row[column] for column in columns}


def _features(row: Row) -> dict[str, Any]:
    from datasets import Value

    text, number = Value("string"), Value("int64")
    functions = [{"name": text, "start": number, "end": number}]
    columns: dict[str, Any] = {
        "spans": [[number]],
        "files": [{"path": text, "lines": [[number]], "functions": functions}],
        "tests": [text],
        "beside": [text],
    }
    return {name: columns.get(name, text) for name in row}
