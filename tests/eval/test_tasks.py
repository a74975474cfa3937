import gzip
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from firstpage.core.errors import InputError, MissingExtraError, RunError
from firstpage.eval.tasks import FIELDS, Task, digest, gold_paths, load_candidates, load_tasks

PATCH = """\
diff --git a/src/a.py b/src/a.py
--- a/src/a.py
+++ b/src/a.py
@@ -1 +1 @@
-+++ b/not/a/file.py
+x
"""
ROW = {
    "instance_id": "owner__name-1",
    "repo": "owner/name",
    "base_commit": "1f" * 20,
    "problem_statement": "It breaks.\r\nBadly.",
    "patch": PATCH,
    "created_at": "2026-01-01",
}
TASK = Task("owner__name-1", "owner/name", "1f" * 20, "It breaks.\r\nBadly.", ["src/a.py"])


def write(path: Path, rows: list[Mapping[str, Any]]) -> Path:
    """The rows in the form that the file's name says."""
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if path.name.endswith(".parquet"):
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.name.endswith(".json"):
        path.write_text(json.dumps(rows))
    elif path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines)
    return path


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.json", "t.parquet"])
def test_every_form_of_file(tmp_path: Path, name: str) -> None:
    other = {**ROW, "instance_id": "owner__name-2"}
    tasks = load_tasks(write(tmp_path / name, [ROW, other]))
    assert tasks[0] == TASK
    assert [task.instance_id for task in tasks] == ["owner__name-1", "owner__name-2"]


def test_blank_lines_and_a_missing_last_line_end(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(
        "\n" + json.dumps(ROW) + "\r\n\n" + json.dumps({**ROW, "instance_id": "2"})
    )
    assert len(load_tasks(tmp_path / "t.jsonl")) == 2


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        pytest.param(PATCH, ["src/a.py"], id="changed"),
        pytest.param("--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n", ["new.py"], id="created"),
        pytest.param(
            "diff --git a/p/__init__.py b/p/__init__.py\nnew file mode 100644\nindex 0000000..e69de29\n",
            ["p/__init__.py"],
            id="created empty",
        ),
        pytest.param("--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", [], id="deleted"),
        pytest.param(
            "diff --git a/p/__init__.py b/p/__init__.py\ndeleted file mode 100644\nindex e69de29..0000000\n",
            [],
            id="deleted empty",
        ),
        pytest.param(
            "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n",
            ["y", "x"],
            id="several in their order",
        ),
        pytest.param(
            "--- a/x y\t\r\n+++ b/x y\t\r\n@@ -1 +1 @@\r\n-1\r\n+2\r\n",
            ["x y"],
            id="a name with a space, CRLF",
        ),
        pytest.param(
            'diff --git "a/caf\\303\\251 \\"1\\".py" "b/caf\\303\\251 \\"1\\".py"\n'
            '--- "a/caf\\303\\251 \\"1\\".py"\n+++ "b/caf\\303\\251 \\"1\\".py"\n@@ -1 +1 @@\n-1\n+2\n',
            ['café "1".py'],
            id="a quoted name",
        ),
        pytest.param(
            "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n",
            ["new.py"],
            id="renamed and no more",
        ),
        pytest.param(
            "diff --git a/old.py b/new.py\nsimilarity index 90%\nrename from old.py\nrename to new.py\n"
            "--- a/old.py\n+++ b/new.py\n@@ -1 +1 @@\n-1\n+2\n",
            ["new.py"],
            id="renamed and changed",
        ),
        pytest.param(
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/fake.py\n-1\n+++ b/fake.py\n+++ /dev/null\n",
            ["x"],
            id="lines that look like a header",
        ),
        pytest.param("", [], id="nothing"),
    ],
)
def test_gold_is_what_the_patch_leaves(patch: str, expected: list[str]) -> None:
    assert gold_paths(patch) == expected


@pytest.mark.parametrize("field", FIELDS)
def test_a_missing_field_is_named_with_file_and_line(tmp_path: Path, field: str) -> None:
    broken = {key: value for key, value in ROW.items() if key != field}
    with pytest.raises(InputError, match=rf"t\.jsonl, line 2 needs the field '{field}', a string"):
        load_tasks(write(tmp_path / "t.jsonl", [ROW, broken]))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.jsonl", b'{"a": 1\n', r"t\.jsonl, line 1 is no JSON: "),
        ("t.jsonl", b"[1]\n", r"t\.jsonl, line 1 is no object with the fields instance_id, repo"),
        ("t.jsonl", b"", r"'.*t\.jsonl' has no tasks"),
        ("t.jsonl", b"\xff\xfe", r"cannot read '.*t\.jsonl': .*utf-8"),
        ("t.jsonl.gz", b"not gzip", r"cannot read '.*t\.jsonl\.gz': Not a gzipped file"),
        ("t.jsonl.gz", gzip.compress(b"x" * 1000)[:-10], r"cannot read '.*t\.jsonl\.gz': "),
        ("t.json", b"{}", r"'.*t\.json' must hold one JSON array"),
        ("t.parquet", b"PAR1 not", r"cannot read '.*t\.parquet': "),
    ],
)
def test_a_broken_file_is_one_sentence(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        load_tasks(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read '.*none\.jsonl': No such file"):
        load_tasks(tmp_path / "none.jsonl")


def test_a_task_given_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has the task 'owner__name-1' twice"):
        load_tasks(write(tmp_path / "t.jsonl", [ROW, ROW]))


def test_parquet_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"reading Parquet .*firstpage\[eval\]"):
        load_tasks(tmp_path / "t.parquet")


class TestHub:
    def test_a_set_by_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[str, str]] = []

        def load_dataset(name: str, split: str) -> list[Mapping[str, str]]:
            asked.append((name, split))
            return [ROW]

        monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
        assert load_tasks("verified") == [TASK]
        assert asked == [("princeton-nlp/SWE-bench_Verified", "test")]

    def test_out_of_reach(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def load_dataset(name: str, split: str) -> None:
            raise ConnectionError("a long\nstory")

        monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
        with pytest.raises(RunError, match="SWE-bench_Lite is not on this machine and could not") as caught:
            load_tasks("lite")
        assert "\n" not in str(caught.value)

    def test_without_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "datasets", None)
        with pytest.raises(MissingExtraError, match=r"firstpage\[eval\]"):
            load_tasks("dev")


class TestCandidates:
    def test_paths_by_task(self, tmp_path: Path) -> None:
        rows = [{"instance_id": "a", "candidates": ["x.py", "y.py"]}, {"instance_id": "b", "candidates": []}]
        assert load_candidates(write(tmp_path / "c.jsonl.gz", rows)) == {"a": ["x.py", "y.py"], "b": []}

    @pytest.mark.parametrize("wrong", [None, "x.py", [1], {"x.py": 1}])
    def test_what_is_no_list_of_paths(self, tmp_path: Path, wrong: object) -> None:
        path = write(tmp_path / "c.jsonl", [{"instance_id": "a", "candidates": wrong}])
        with pytest.raises(
            InputError, match=r"c\.jsonl, line 1 needs the field 'candidates', a list of paths"
        ):
            load_candidates(path)

    def test_a_task_given_twice(self, tmp_path: Path) -> None:
        path = write(tmp_path / "c.jsonl", [{"instance_id": "a", "candidates": []}] * 2)
        with pytest.raises(InputError, match=r"c\.jsonl, line 2 repeats the task 'a'"):
            load_candidates(path)


def test_the_digest_is_that_of_the_tasks_and_not_of_their_order_or_file() -> None:
    other = Task("owner__name-2", "owner/name", "2e" * 20, "It too.", ["b.py"])
    assert digest([TASK, other]) == digest([other, TASK])
    assert digest([TASK]) != digest([other])


@pytest.mark.parametrize(("name", "count"), [("verified", 500), ("lite", 300), ("dev", 225)])
def test_the_real_sets(data: Path, name: str, count: int) -> None:
    tasks = load_tasks(data / "swebench" / f"{name}.jsonl.gz")
    assert len(tasks) == count
    assert all(task.gold and task.query for task in tasks)
