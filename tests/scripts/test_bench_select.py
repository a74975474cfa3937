import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from firstpage.core.errors import InputError
from firstpage.scripts.bench_select import command


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Options that name a file of one task and a file of its candidates."""
    task = {
        "instance_id": "a",
        "repo": "o/n",
        "base_commit": "f" * 40,
        "problem_statement": "stale cache",
        "patch": "--- a/src/cache.py\n+++ b/src/cache.py\n@@ -1 +1 @@\n-1\n+2\n",
    }
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task))
    made = {"instance_id": "a", "candidates": ["docs/conf.py", "src/cache.py"]}
    (tmp_path / "candidates.jsonl").write_text(json.dumps(made))
    return ["--tasks", str(tmp_path / "tasks.jsonl"), "--candidates", str(tmp_path / "candidates.jsonl")]


def run(*arguments: str) -> str:
    return CliRunner().invoke(command, arguments, catch_exceptions=False).stdout


def test_tables_by_default(files: list[str]) -> None:
    assert "| priority_kw_plus" in run(*files)


def test_json_on_standard_output(files: list[str]) -> None:
    summary = json.loads(run(*files, "--functions", "fifo,priority_kw", "--budgets", "100", "--json"))
    assert [(page["function"], page["any"]["p1"]["hits"]) for page in summary["pages"]] == [
        ("fifo", 0),
        ("priority_kw", 1),
    ]
    assert set(summary["provenance"]["data"]) == {"tasks.jsonl", "candidates.jsonl"}


def test_a_folder_of_results(files: list[str], tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    run(*files, "--out", str(tmp_path / "out"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "cells.parquet",
        "summary.json",
        "table.md",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--functions", "priorty_kw"], "did you mean 'priority_kw'"),
        (["--budgets", "many"], "--budgets takes whole numbers"),
        (["--reference", "nowhere"], "--reference cannot use"),
        (["--candidates", "nowhere"], "cannot read 'nowhere'"),
    ],
)
def test_bad_input_is_one_sentence(files: list[str], arguments: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(*files, *arguments)
