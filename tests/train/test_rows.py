import gzip
import json
import os
import subprocess
import sys

import pytest
from firstpage.core.errors import FirstpageError, InputError, RunError
from firstpage.train.rows import RowsFile, field, line_of, read_rows, write_rows
from hypothesis import given
from hypothesis import strategies as st

ROWS = [{"query": f"question {number}", "lone": "\udc80"} for number in range(2500)]


def contents(path):
    return [row for _, row in read_rows(path)]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "new/folder/rows"])
def test_what_is_written_is_read_again(tmp_path, name):
    assert write_rows(tmp_path / name, ROWS) == 2500
    assert contents(tmp_path / name) == [{**row, "lone": "?"} for row in ROWS]
    assert [path.name for path in (tmp_path / name).parent.iterdir()] == [os.path.basename(name)]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_bytes_are_the_same_whenever_written(tmp_path, name):
    write_rows(tmp_path / name, ROWS)
    before = (tmp_path / name).read_bytes()
    write_rows(tmp_path / name, ROWS)
    assert (tmp_path / name).read_bytes() == before


def test_other_programs_read_the_gzipped_file(tmp_path):
    write_rows(tmp_path / "rows.jsonl.gz", ROWS)
    out = subprocess.run(["gzip", "-dc", tmp_path / "rows.jsonl.gz"], capture_output=True, check=True).stdout
    assert out.count(b"\n") == 2500


def test_writing_goes_on_where_it_was_killed(tmp_path):
    path, settings = tmp_path / "rows.jsonl.gz", {"heads": ["a"]}
    with RowsFile(path, settings) as file:
        assert file.state == {}
        file.add(ROWS[:10], {"done": 10})
        file.add([], {"done": 15})
        file._file.write(b"half a row that was on its way")
    with RowsFile(path, settings) as file:
        assert file.state == {"done": 15}
        assert len(list(file.rows())) == 10
        file.add(ROWS[10:20], {"done": 20})
        file.finish()
    assert [row["query"] for row in contents(path)] == [row["query"] for row in ROWS[:20]]
    assert [one.name for one in tmp_path.iterdir()] == ["rows.jsonl.gz"]


@pytest.mark.parametrize("spoil", ["settings", "state", "rows", "folder"])
def test_what_does_not_fit_is_not_gone_on_with(tmp_path, spoil):
    path = tmp_path / "rows.jsonl"
    with RowsFile(path, {"heads": ["a"]}) as file:
        file.add(ROWS[:10], {"done": 10})
    part = tmp_path / "rows.jsonl.part"
    if spoil == "state":
        (part / "state.json").write_text('{"bytes": 3')
    elif spoil == "rows":
        (part / "rows").write_bytes(b"{}")
    elif spoil == "folder":
        (part / "rows").unlink()
    with RowsFile(path, {"heads": ["b" if spoil == "settings" else "a"]}) as file:
        assert file.state == {}
        file.add(ROWS[:1], {})
        file.finish()
    assert len(contents(path)) == 1


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "rows.jsonl"
    write_rows(path, ROWS[:1])

    def failing():
        yield from ROWS[:2000]
        raise InputError("no more")

    with pytest.raises(InputError, match="no more"):
        write_rows(path, failing())
    assert len(contents(path)) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["rows.jsonl"]


def test_no_rows_make_no_file(tmp_path):
    assert write_rows(tmp_path / "rows.jsonl", []) == 0
    assert list(tmp_path.iterdir()) == []


def test_two_processes_do_not_write_one_file(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "rows.jsonl"
    code = f"from firstpage.train.rows import write_rows; write_rows({str(path)!r}, [{{}}])"
    with RowsFile(path, {}) as file:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "another process is writing" in done.stderr
        file.add(ROWS[:2], {})
        file.finish()
    assert len(contents(path)) == 2


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder; name a file"):
        RowsFile(tmp_path)


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write"):
        write_rows(tmp_path / "file" / "rows.jsonl", ROWS)


def test_a_full_disk_is_told(tmp_path):
    with RowsFile(tmp_path / "rows.jsonl") as file, open("/dev/full", "ab") as full:
        file._file.close()
        file._file = full
        with pytest.raises(RunError, match="No space left"):
            file.add(ROWS, {})


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": ', "line 2 is no JSON"),
        ("a.jsonl", b"[1]\n", "line 1 is no object"),
        ("a.jsonl", b"\xff\xfe\n", "line 1 is no JSON"),
        ("a.jsonl", b"[" * 100_000, "line 1 is no JSON"),
        ("a.jsonl.gz", b"no gzip", "cannot read"),
        ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 9)[:-12], "cannot read"),
        ("a.json", b'{"a": 1}', "must hold one JSON array"),
        ("a.json", b"[1]", "object 1 is no object"),
        ("a.json.gz", b"x", "cannot read"),
        ("a.parquet", b"x", "cannot read"),
    ],
)
def test_broken_files_are_named(tmp_path, name, content, said):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        contents(tmp_path / name)


def test_a_file_that_is_not_there_is_named(tmp_path):
    for name in ("a.jsonl", "a.json", "a.jsonl.gz"):
        with pytest.raises(InputError, match="No such file"):
            contents(tmp_path / name)


def test_json_and_parquet_are_read_too(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([{"a": 1}]))
    (tmp_path / "b.jsonl").write_text('\n{"a": 1}\n\n')
    assert contents(tmp_path / "a.json") == contents(tmp_path / "b.jsonl") == [{"a": 1}]
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": list(range(2500))}), tmp_path / "a.parquet")
    assert [row["a"] for row in contents(tmp_path / "a.parquet")] == list(range(2500))


def test_a_field_is_there_and_of_its_kind():
    assert field("x", {"a": "b"}, "a") == "b"
    with pytest.raises(FirstpageError, match="x needs the field 'b', a string"):
        field("x", {"b": 1}, "b")
    with pytest.raises(FirstpageError, match="x needs the field 'c', a list"):
        field("x", {}, "c", list)


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists)))
def test_a_row_is_one_line_that_reads_back(row):
    line = line_of(row)
    assert "\n" not in line
    assert json.loads(line.encode()) == row
