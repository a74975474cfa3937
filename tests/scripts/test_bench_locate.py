"""``firstpage bench locate`` as a person runs it, on two tiny repositories."""

import json
import shutil
from pathlib import Path

import pytest

pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="session")
def made(make_repository, tmp_path_factory):
    """A folder with ``tasks.jsonl`` and the clones that it needs."""
    folder = tmp_path_factory.mktemp("bench")
    one, two = make_repository(), make_repository()
    first = one.commit("Add", {"src/cache.py": "stale_cache = 1\n", "src/view.py": "x = 2\n", "a.py": ""})
    one.commit("Take away", {"src/cache.py": None})
    second = two.commit("Add", {"parser.py": "def parse(): ...\n", "b.py": "x = 1\n"})
    (folder / "clones" / "p").mkdir(parents=True)
    one.folder.rename(folder / "clones" / "o__one")
    two.folder.rename(folder / "clones" / "p" / "two")
    rows = [
        task("t1", "o/one", first, "stale_cache is never emptied", "src/cache.py"),
        task("t2", "p/two", second, "parse() takes any text", "parser.py", "b.py"),
        task("t3", "p/two", "f" * 40, "parse() is lost", "parser.py"),
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def bench(made, tmp_path):
    """That folder, for one test alone."""
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def task(name: str, repo: str, commit: str, issue: str, *gold: str) -> dict[str, str]:
    patch = "".join(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-1\n+2\n" for path in gold)
    return {
        "instance_id": name,
        "repo": repo,
        "base_commit": commit,
        "problem_statement": issue,
        "patch": patch,
    }


ASKED = ("bench", "locate", "--tasks", "tasks.jsonl", "--repos", "clones", "--functions", "fifo,hybrid")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_every_generator_and_function_is_measured(firstpage, bench, jobs):
    done = firstpage(*ASKED, "--out", "results", "--budgets", "40,1000", "--jobs", jobs, "--json", cwd=bench)
    told = json.loads(done.out)
    assert (done.status, done.err) == (0, "The report is results/report.html\n")
    every = ["grep", "bm25", "union", "names", "history", "dense", "wide", "everything"]
    assert [row["generator"] for row in told["generators"]] == every
    assert list(told["errors"]) == ["t3"]
    rows = {(row["generator"], row["function"]): row for row in told["rankings"]}
    assert len(rows) == 16
    hybrid = rows["union", "hybrid"]
    assert hybrid["any"]["1"]["hits"] == 2  # t3 counts as a miss
    assert (hybrid["any_on_page"]["40"]["hits"], hybrid["any_on_page"]["1000"]["hits"]) == (2, 2)
    assert hybrid["any"]["100"]["rate"] == pytest.approx(2 / 3)
    assert [(row["repository"], row["tasks"]) for row in told["repositories"]] == [("o/one", 1), ("p/two", 2)]
    assert {(pair["function"], pair["against"]) for pair in told["comparisons"]} == {("fifo", "hybrid")}
    assert told == json.loads((bench / "results" / "summary.json").read_text())
    cells = pq.read_table(bench / "results" / "cells.parquet").to_pylist()
    assert len(cells) == 3 * 16
    first = next(cell for cell in cells if (cell["task"], cell["generator"]) == ("t1", "grep"))
    assert (first["files"], first["first"], first["ranks"]) == (3, "src/cache.py", [1])


def test_tables_are_printed_with_what_could_not_be_measured(firstpage, bench):
    done = firstpage(*ASKED, "--generators", "bm25", "--reference", "fifo", cwd=bench)
    assert (done.status, done.err) == (0, "")
    assert done.lines[0] == "3 tasks; shares in percent, with 95 % Wilson intervals."
    assert done.lines[2].startswith("1 of 3 tasks could not be measured and count as misses; t3: ")
    assert any("| fifo against hybrid |" in line for line in done.lines)
    assert sorted(path.name for path in bench.iterdir()) == ["cache", "clones", "tasks.jsonl"]


def test_a_map_says_where_the_clones_are(firstpage, bench):
    (bench / "maps").mkdir()
    (bench / "maps" / "repos.yaml").write_text("o/one: ../clones/o__one\np/two: ../clones/p/two\n")
    asked = ("bench", "locate", "--tasks", "tasks.jsonl", "--repos", "maps/repos.yaml", "--functions", "fifo")
    done = firstpage(*asked, "--generators", "grep", "--json", cwd=bench)
    assert json.loads(done.out)["generators"][0]["any"]["hits"] == 2


REFUSED = {
    "no such tasks": (["--tasks", "nowhere.jsonl"], ["cannot read 'nowhere.jsonl': No such file"]),
    "tasks that are none": (["--tasks", "bad.jsonl"], ["bad.jsonl, line 1 needs the field 'instance_id'"]),
    "tasks that are no JSON": (["--tasks", "clones/o__one/src/view.py"], ["line 1 is no JSON"]),
    "missing clones": (["--repos", "maps"], ["--repos 'maps' lacks o/one, p/two"]),
    "neither folder nor map": (["--repos", "nowhere"], ["'nowhere' is neither"]),
    "a map that is no YAML": (["--repos", "broken.yaml"], ["is no YAML file"]),
    "an unknown generator": (["--generators", "grep,bm26"], ["'bm26'", "did you mean 'bm25'?"]),
    "an unknown function": (["--functions", "hybird"], ["'hybird'", "did you mean 'hybrid'?"]),
    "an unmeasured reference": (
        ["--reference", "bm25"],
        ["--reference 'bm25' is not measured", "fifo, hybrid"],
    ),
    "budgets that are no numbers": (["--budgets", "1k"], ["--budgets takes whole numbers"]),
    "no jobs": (["--jobs", "0"], ["--jobs"]),
    "a folder that cannot be made": (["--out", "tasks.jsonl/out"], ["--out cannot make the folder"]),
}


@pytest.mark.parametrize(("options", "said"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_one_sentence(in_process, bench, options, said):
    (bench / "maps").mkdir()
    (bench / "bad.jsonl").write_text('{"repo": "o/one"}\n')
    (bench / "broken.yaml").write_text("a: [b\nc: d")
    assert in_process(*ASKED, *options, cwd=bench).is_refused(*said)


def test_a_clone_that_is_no_repository_is_named(firstpage, bench, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(bench))
    (bench / "clones" / "o__one").rename(bench / "clones" / "away")
    (bench / "clones" / "o__one").mkdir()
    for jobs in ("1", "2"):
        done = firstpage(*ASKED, "--jobs", jobs, cwd=bench)
        assert done.is_refused("clones/o__one is no git repository")
