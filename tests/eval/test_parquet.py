import sys
from pathlib import Path

import pytest
from firstpage.core.errors import MissingExtraError
from firstpage.eval.parquet import parquet


def test_rows_become_parquet(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    rows = [{"name": "a", "rank": 1}, {"name": "b", "rank": None}]
    (tmp_path / "rows.parquet").write_bytes(parquet(rows))
    assert pq.read_table(tmp_path / "rows.parquet").to_pylist() == rows


def test_parquet_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"writing Parquet files .*firstpage\[eval\]"):
        parquet([])
