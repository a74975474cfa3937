"""``firstpage bench history`` as a person runs it, on a repository of fifteen commits."""

import fcntl
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest

pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

WORDS = ("cache", "parser", "router", "session", "template", "upload", "widget")


@pytest.fixture(scope="session")
def grown(make_repository):
    """Fifteen commits, of which twelve make tasks; the message of each names the file that it changes."""
    repository = make_repository()
    files = {f"src/{word}.py": f"class {word.title()}:\n    '''Keeps every {word}.'''\n" for word in WORDS}
    files |= {f"src/other{number:02}.py": "class Other: ...\n" for number in range(20)}
    repository.commit("Add everything at once", files | {"notes.md": ""})
    for number, word in enumerate([*WORDS, *WORDS[:5]]):
        body = files[f"src/{word}.py"] + f"    SIZE = {number}\n"
        repository.commit(f"The {word} keeps too much\n\nIt never forgets.", {f"src/{word}.py": body})
    repository.commit("Bump version to 1.2.3", {"src/cache.py": "VERSION = 3\n"})
    repository.commit("Explain it in the notes", {"notes.md": "More."})
    return repository


@pytest.fixture(scope="session")
def measured(console_script, grown, tmp_path_factory):
    """Standard output, standard error and the folder of a run with everything at its default but the jobs."""
    folder = tmp_path_factory.mktemp("history")
    arguments = ["bench", "history", "--repo", grown.folder, "--jobs", "2"]
    done = subprocess.run(
        [console_script, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout, done.stderr, folder / "out" / "history"


def test_it_says_which_function_to_use_and_where_the_report_is(measured):
    out, err, folder = measured
    assert err == ""
    assert out.startswith("12 tasks; ")
    assert out.endswith(f"\nThe report is {folder.relative_to(folder.parent.parent)}/report.html\n")
    advised = out.split("\n\n")[-2]
    assert re.search(r"\b(fused|bi-encoder|hybrid|bm25|priority_kw)\b", advised)
    assert "of 12 tasks" in advised
    assert "100.0 (75.8–100.0) %" in advised


def test_the_tables_hold_every_function(measured):
    tables = (measured[2] / "tables.md").read_text(encoding="utf-8")
    first = tables.split("### A gold file among the first k")[1].split("###")[0]
    p1 = {row.split("|")[2].strip(): row.split("|")[3].strip() for row in first.strip().split("\n")[2:]}
    assert p1["hybrid"].startswith("100.0 (")
    assert float(p1["reversed"].split()[0]) < 50
    assert set(p1) >= {"fifo", "random", "reversed", "priority_kw", "priority_all", "bm25", "hybrid"}


def test_the_report_stands_alone(measured):
    report = (measured[2] / "report.html").read_text(encoding="utf-8")
    assert report.count("<svg") >= 2
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:|//|file:)""", report)
    assert "12 tasks" in report


def test_all_four_files_are_there_and_agree(measured):
    folder = measured[2]
    assert sorted(path.name for path in folder.iterdir()) == [
        "cells.parquet", "report.html", "summary.json", "tables.md",
    ]  # fmt: skip
    summary = json.loads((folder / "summary.json").read_text())
    rows = pq.read_table(folder / "cells.parquet").to_pylist()
    hybrid = [row for row in rows if row["function"] == "hybrid"]
    assert len(hybrid) == summary["tasks"] == 12
    assert {row["first"] for row in hybrid} == {f"src/{word}.py" for word in WORDS}


def test_json_is_the_summary_with_its_provenance(firstpage, grown, tmp_path):
    done = firstpage(
        "bench", "history", "--repo", grown.folder, "--commits", "5", "--functions", "fifo,hybrid,fifo",
        "--budgets", "100,2000,100", "--jobs", "1", "--generator", "bm25", "--out", tmp_path / "out",
        "--json",
    )  # fmt: skip
    told = json.loads(done.out)
    assert (done.status, done.err, told["tasks"], told["errors"]) == (0, "", 5, {})
    assert [(row["generator"], row["function"]) for row in told["rankings"]] == [
        ("bm25", "fifo"),
        ("bm25", "hybrid"),
    ]
    assert list(told["rankings"][0]["any_on_page"]) == ["100", "2000"]
    assert told["rankings"][1]["any"]["1"]["hits"] == 5
    assert told == json.loads((tmp_path / "out" / "summary.json").read_text())
    assert told["provenance"]["command"].startswith("firstpage bench history --repo")


def test_a_repository_with_a_path_that_is_no_utf8_is_measured(firstpage, repository, tmp_path):
    place = bytes(repository.folder) + b"/caf\xe9.py"
    for content in (b"x", b"y"):
        with open(place, "wb") as file:
            file.write(content)
        repository.commit("Mend the café at last", {})
    done = firstpage(
        "bench", "history", "--repo", repository.folder, "--functions", "fifo", "--out", tmp_path / "out"
    )
    assert (done.status, done.err) == (0, "")
    assert pq.read_table(tmp_path / "out" / "cells.parquet").to_pylist()[0]["first"] == "caf\ufffd.py"


REFUSED = {
    "a missing repository": (["--repo", "nowhere"], ["there is no repository at nowhere"]),
    "an unknown generator": (["--generator", "unoin"], ["generator 'unoin'", "did you mean 'union'?"]),
    "an unknown function": (["--functions", "fifo,hybird"], ["'hybird'", "did you mean 'hybrid'?"]),
    "no function": (["--functions", ","], ["no value function is named; there are fifo,"]),
    "no budget": (["--budgets", "0"], ["--budgets takes whole numbers above 0"]),
    "no commits": (["--commits", "0"], ["--commits"]),
    "no such files": (["--suffix", ".xyz"], ["no commit of repo makes a task", "--suffix"]),
    "a file as folder": (["--out", "file"], ["--out", "file"]),
    "a folder below a file": (["--out", "file/out"], ["--out cannot make the folder 'file/out'"]),
}


@pytest.mark.parametrize(("options", "said"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_one_sentence_before_anything_is_measured(in_process, grown, tmp_path, options, said):
    (tmp_path / "file").write_text("in the way")
    where = [] if "--repo" in options else ["--repo", grown.folder]
    assert in_process("bench", "history", *where, *options, cwd=tmp_path).is_refused(*said)
    assert not (tmp_path / "out").exists()


def test_a_repository_of_one_commit_is_told_what_makes_a_task(firstpage, repository, tmp_path):
    repository.commit("The only commit there is", {"a.py": "a"})
    done = firstpage("bench", "history", "--repo", repository.folder, cwd=tmp_path)
    assert done.is_refused("no commit of repo makes a task; it takes commits that change up to 10")


@pytest.fixture
def asleep(console_script, grown, plug_in, tmp_path):
    """Starts a run whose value function never ends; it comes back when so many processes are asleep in it."""
    marks = tmp_path / "marks"
    marks.mkdir()
    plug_in(
        "sleepy",
        f"import fcntl; mark = open(f'{marks}/{{os.getpid()}}', 'w'); "
        "fcntl.flock(mark, fcntl.LOCK_EX); time.sleep(60)",
    )

    @contextmanager
    def start(functions: str, jobs: int):
        command = [console_script, "bench", "history", "--repo", grown.folder, "--functions", functions]
        with subprocess.Popen(
            [*command, "--jobs", str(jobs), "--out", tmp_path / "out"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A shell's background jobs, as CI may be one, ignore SIGINT, and so would what they start.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as running:
            try:
                wait_until(lambda: running.poll() is not None or len(held(marks)) == jobs)
                assert running.poll() is None
                yield running, marks
            finally:
                running.kill()

    return start


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_run_leaves_no_file_and_no_process(asleep, tmp_path, jobs):
    with asleep("fifo,sleepy", jobs) as (running, marks):
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)
        assert (running.returncode, out, err.strip()) == (130, b"", b"firstpage: interrupted")
        assert list((tmp_path / "out").iterdir()) == []
        assert held(marks) == []


def test_the_processes_of_a_killed_run_end_too(asleep):
    with asleep("sleepy", 2) as (running, marks):
        running.kill()
        wait_until(lambda: held(marks) == [])


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def held(marks: Path) -> list[str]:
    """Which processes run: each holds a lock on its mark, and loses it when it ends, however it does."""
    running = []
    for mark in marks.iterdir():
        with mark.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                running.append(mark.name)
    return running
