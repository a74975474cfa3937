import io
import json

import pytest
from firstpage.core.errors import RunError
from firstpage.eval.localisation import Cell, Plan
from firstpage.eval.outputs import write_outputs
from firstpage.eval.provenance import provenance
from firstpage.eval.summary import summarise
from firstpage.eval.tasks import Task

pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

STRANGE = b"caf\xe9.py".decode("utf-8", "surrogateescape")
TASKS = [
    Task("t1", "o/n", "c" * 40, "The cache is stale", ["a.py"]),
    Task("t2", "o/n", "c" * 40, f"Mend {STRANGE}", ["b.py", STRANGE]),
    Task("t3", "o/n", "d" * 40, "It is never found", ["c.py"]),
]
CELLS = [
    Cell("t1", "o/n", "grep", "fifo", 9, 4, 1, 1, (1,), (1, 1), 0.25, "a.py"),
    Cell("t2", "o/n", "grep", "fifo", 9, 4, 2, 2, (2, 3), (0, 2), 0.5, STRANGE),
    Cell("t3", "o/n", "grep", "fifo", 0, 0, 1, 0, (), (0, 0), 0.0, "", f"no commit in {STRANGE}"),
]


@pytest.fixture
def summary():
    made = summarise(CELLS, Plan(["grep"], ["fifo"], [1000, 2000], [".py"]), "fifo")
    return made | {"provenance": provenance(["firstpage", "bench"])}


@pytest.fixture
def written(summary, tmp_path):
    report = write_outputs(tmp_path / "some" / "where", "A title", summary, CELLS, TASKS)
    assert report == tmp_path / "some" / "where" / "report.html"
    return report.parent


def test_four_files_and_nothing_else_are_written(written):
    assert sorted(path.name for path in written.iterdir()) == [
        "cells.parquet", "report.html", "summary.json", "tables.md",
    ]  # fmt: skip


def test_cells_come_back_from_parquet(written):
    rows = pq.read_table(io.BytesIO((written / "cells.parquet").read_bytes())).to_pylist()
    assert rows[0] == {
        "task": "t1", "repo": "o/n", "generator": "grep", "function": "fifo", "files": 9, "candidates": 4,
        "gold": 1, "found": 1, "ranks": [1], "on_page": [1, 1], "seconds": 0.25, "first": "a.py", "error": "",
    }  # fmt: skip
    assert [row["ranks"] for row in rows] == [[1], [2, 3], []]


def test_bytes_of_a_path_that_are_no_utf8_are_replaced_where_a_file_cannot_hold_them(written):
    rows = pq.read_table(written / "cells.parquet").to_pylist()
    assert (rows[1]["first"], rows[2]["error"]) == ("caf\ufffd.py", "no commit in caf\ufffd.py")
    assert "no commit in caf\ufffd.py" in (written / "tables.md").read_text(encoding="utf-8")


def test_the_summary_is_strict_json(written, summary):
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    read = json.loads((written / "summary.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert read == json.loads(json.dumps(summary))
    assert read["rankings"][0]["any"]["1"]["hits"] == 1


def test_the_report_has_its_title_and_the_tables_are_there(written):
    assert "A title" in (written / "report.html").read_text(encoding="utf-8")
    assert "### Inclusion: a gold file on the page" in (written / "tables.md").read_text(encoding="utf-8")


def test_writing_again_replaces_what_was_there(written, summary):
    before = (written / "cells.parquet").read_bytes()
    write_outputs(written, "Another title", summary, CELLS[:2], TASKS)
    assert (written / "cells.parquet").read_bytes() != before
    assert "Another title" in (written / "report.html").read_text(encoding="utf-8")
    assert len(list(written.iterdir())) == 4


def test_a_file_that_cannot_be_replaced_is_an_error_of_the_run(summary, tmp_path):
    (tmp_path / "summary.json" / "in the way").mkdir(parents=True)
    with pytest.raises(RunError, match=r"cannot write '.*summary\.json'"):
        write_outputs(tmp_path, "A title", summary, CELLS, TASKS)
