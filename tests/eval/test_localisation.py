import itertools
import os
import signal
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
from firstpage.core.costs import row_cost
from firstpage.core.errors import FirstpageError, InputError, RunError
from firstpage.core.git import GitStore
from firstpage.core.items import Item
from firstpage.eval.localisation import Cell, Plan, for_each, measure, outcome, run
from firstpage.eval.locate import locate
from firstpage.eval.tasks import Task
from firstpage.readers import value_functions
from firstpage.readers.blob_index import BlobIndex
from hypothesis import given
from hypothesis import strategies as st

ROW = row_cost("a.py")  # of each file below
FILES = {name: f"stale_cache = {name!r}\n" for name in ("a.py", "b.py", "c.py", "d.py")}


def plan(*functions: str, generators=("grep",), budgets=(ROW, 2 * ROW)) -> Plan:
    return Plan(generators, functions or ("fifo", "reversed"), budgets, (".py",))


def task(commit: str, *gold: str, name: str = "t1", repo: str = "o/n", query: str = "stale_cache") -> Task:
    return Task(name, repo, commit, query, gold)


def measured(repository, asked: Task, planned: Plan) -> list[Cell]:
    with GitStore(repository.folder) as store, BlobIndex(store) as index:
        return measure(asked, index.corpus(asked.base_commit, planned.suffixes), planned)


def test_a_cell_tells_where_the_gold_is(repository):
    commit = repository.commit("Add files", {**FILES, "e.py": "", "notes.md": "stale_cache"})
    fifo, backwards = measured(repository, task(commit, "b.py"), plan())
    assert replace(fifo, seconds=0.0) == Cell(
        task="t1", repo="o/n", generator="grep", function="fifo", files=5, candidates=4, gold=1,
        found=1, ranks=(2,), on_page=(0, 1), seconds=0.0, first="a.py",
    )  # fmt: skip
    assert (backwards.ranks, backwards.on_page, backwards.first) == ((3,), (0, 0), "d.py")


def test_several_gold_files_are_ranked_and_one_that_is_no_candidate_is_left_out(repository):
    commit = repository.commit("Add files", {**FILES, "e.py": ""})
    fifo, backwards = measured(repository, task(commit, "d.py", "e.py", "a.py"), plan())
    assert (fifo.gold, fifo.found, fifo.ranks, fifo.on_page) == (3, 2, (1, 4), (1, 1))
    assert (backwards.ranks, backwards.on_page) == ((1, 4), (1, 1))


def test_each_generator_brings_its_own_candidates(repository):
    commit = repository.commit("Add files", {**FILES, "stale/cache.py": "x"})
    cells = measured(repository, task(commit, "stale/cache.py"), plan("fifo", generators=("grep", "union")))
    assert [(cell.generator, cell.candidates, len(cell.ranks)) for cell in cells] == [
        ("grep", 4, 0),
        ("union", 5, 1),
    ]


def test_a_commit_without_a_file_of_the_corpus_is_a_miss_without_candidates(repository):
    commit = repository.commit("Add notes", {"notes.md": "stale_cache"})
    cells = measured(repository, task(commit, "a.py"), plan("hybrid", "fifo", generators=("bm25", "grep")))
    assert {(cell.files, cell.candidates, cell.ranks, cell.on_page, cell.first) for cell in cells} == {
        (0, 0, (), (0, 0), "")
    }


def test_nothing_of_a_newer_commit_is_visible(repository):
    old = repository.commit("Add files", FILES)
    repository.commit("Add the answer", {"0.py": "stale_cache", "a.py": "nothing"})
    (cell,) = measured(repository, task(old, "0.py", "a.py"), plan("fifo"))
    assert (cell.files, cell.candidates, cell.ranks, cell.first) == (4, 4, (1,), "a.py")


def test_equal_values_keep_the_order_of_the_generator():
    items = [Item(name, name) for name in ("c.py", "a.py", "b.py")]
    assert outcome(items, np.zeros(3), ["a.py"], [ROW, 2 * ROW]) == ((2,), (0, 1))
    assert outcome(items, np.ones(3), ["b.py"], [2 * ROW, 3 * ROW]) == ((3,), (0, 1))


def test_without_items_or_without_the_gold_there_are_no_ranks():
    assert outcome([], np.zeros(0), ["a.py"], [100, 1000]) == ((), (0, 0))
    assert outcome([Item("b.py", "b.py")], np.ones(1), ["a.py"], [100]) == ((), (0,))


def test_a_page_holds_what_is_worth_most_under_the_budget_whatever_its_rank():
    items = [Item("long" * 40, "long" * 40), Item("a.py", "a.py"), Item("b.py", "b.py")]
    assert row_cost(items[0].text) > 2 * ROW
    ranks, on_page = outcome(items, np.array([0.9, 0.8, 0.7]), ["a.py", "b.py"], [2 * ROW])
    assert (ranks, on_page) == ((2, 3), (2,))


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.booleans()), max_size=12), st.integers(1, 400))
def test_ranks_are_those_of_a_stable_sort_and_a_page_holds_no_more_gold_than_fits(drawn, budget):
    items = [Item(f"{place:02}", f"{place:02}.py") for place in range(len(drawn))]
    gold = [item.id for item, (_, is_gold) in zip(items, drawn, strict=True) if is_gold]
    values = np.array([value for value, _ in drawn])
    by_value = sorted(range(len(drawn)), key=lambda place: -values[place])
    ranks, (on_page,) = outcome(items, values, gold, [budget])
    assert ranks == tuple(rank for rank, place in enumerate(by_value, 1) if items[place].id in gold)
    fitting = budget // row_cost("00.py")  # all cost the same, so that the best ones are taken
    assert on_page == sum(rank <= fitting for rank in ranks)


@pytest.fixture
def two(make_repository):
    """Two repositories, and tasks on them; the last one's commit is missing."""
    one, other = make_repository(), make_repository()
    commits = [one.commit("Add files", FILES), one.commit("Change one", {"a.py": "x"})]
    commits += [other.commit("Add another", {"b.py": "stale_cache"})]
    tasks = [
        task(commits[0], "b.py", name="t1"),
        task(commits[1], "a.py", "d.py", name="t2"),
        task(commits[2], "b.py", name="t3", repo="o/other"),
        task("f" * 40, "b.py", name="t4", repo="o/other"),
    ]
    return tasks, {"o/n": one.folder, "o/other": other.folder}


def test_a_task_whose_commit_is_missing_is_a_miss_that_says_why(two):
    cells = {asked.instance_id: cells for asked, cells in run(*two, plan())}
    assert [cell.ranks for cell in cells["t3"]] == [(1,), (1,)]
    assert [(cell.function, cell.gold, cell.ranks, cell.on_page) for cell in cells["t4"]] == [
        ("fifo", 1, (), (0, 0)),
        ("reversed", 1, (), (0, 0)),
    ]
    assert all(f"has no commit '{'f' * 40}'" in cell.error for cell in cells["t4"])


def test_several_processes_measure_what_one_does(two):
    tasks, places = two
    wide = plan("fifo", "hybrid", "bm25", "random", generators=("grep", "union"))
    alone, together = (
        sorted(
            (replace(cell, seconds=0.0) for _, cells in run(tasks, places, wide, jobs) for cell in cells),
            key=lambda cell: (cell.task, cell.generator, cell.function),
        )
        for jobs in (1, 2)
    )
    assert len(alone) == 4 * 2 * 4
    assert together == alone


def test_locate_orders_cells_and_counts_tasks(two):
    steps: list[None] = []
    tasks, places = two
    summary, cells = locate(tasks[::-1], places, plan(), "fifo", 1, lambda: steps.append(None))
    assert [(cell.task, cell.function) for cell in cells] == list(
        itertools.product(["t1", "t2", "t3", "t4"], ["fifo", "reversed"])
    )
    assert (len(steps), summary["tasks"], list(summary["errors"])) == (4, 4, ["t4"])


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value function 'broken' that breaks its contract and one, 'slow', that takes a while."""
    (tmp_path / "functions_of_a_test.py").write_text(
        "import time\n"
        "class Broken:\n    name = 'broken'\n    def values(self, query, items): return [-1.0] * len(items)\n"
        "class Slow:\n    name = 'slow'\n"
        "    def values(self, query, items):\n        time.sleep(0.2)\n        return [1.0] * len(items)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("Broken", "Slow"):
        monkeypatch.setitem(value_functions._built_in, name.lower(), f"functions_of_a_test:{name}")


def test_a_function_that_breaks_its_contract_misses_and_leaves_the_others_alone(repository, broken):
    commit = repository.commit("Add files", FILES)
    bad, good = measured(repository, task(commit, "a.py"), plan("broken", "fifo"))
    assert (bad.ranks, bad.on_page, bad.candidates, bad.found) == ((), (0, 0), 4, 1)
    assert "'broken' gave the value -1.0 to the item 'a.py'" in bad.error
    assert (good.ranks, good.error) == ((1,), "")


@pytest.mark.parametrize("functions", [("broken", "fifo"), ("fifo", "broken")])
def test_what_the_candidates_hold_is_known_whoever_ranks_them(repository, broken, functions):
    asked = task(repository.commit("Add files", FILES), "a.py")
    summary, _ = locate([asked], {"o/n": repository.folder}, plan(*functions), "fifo", 1, lambda: None)
    assert summary["generators"][0]["any"]["hits"] == 1
    assert list(summary["errors"]["t1"]) == ["broken"]
    assert {row["function"]: row["any"]["1"]["hits"] for row in summary["rankings"]} == {
        "fifo": 1,
        "broken": 0,
    }


@pytest.mark.parametrize("jobs", [1, 2])
def test_any_work_can_be_done_on_all_tasks(two, jobs):
    tasks, places = two
    done = {asked.instance_id: found for asked, found in for_each(tasks, places, files_of, jobs)}
    assert {name: done[name] for name in ("t1", "t2", "t3")} == {"t1": 4, "t2": 4, "t3": 1}
    assert isinstance(done["t4"], FirstpageError)


def files_of(asked: Task, index: BlobIndex) -> int:
    return len(index.corpus(asked.base_commit, (".py",)).files)


def test_a_killed_process_is_an_error_of_the_run(repository, broken):
    commit = repository.commit("Add files", FILES)
    tasks = [task(commit, "a.py", name=f"t{number}") for number in range(24)]
    running = run(tasks, {"o/n": repository.folder}, plan("slow"), jobs=2)
    next(running)
    os.kill(active_children()[0].pid, signal.SIGKILL)
    with pytest.raises(RunError, match="ended from outside"):
        list(running)


def test_whoever_stops_listening_does_not_wait_for_the_rest(repository, broken):
    commit = repository.commit("Add files", FILES)
    tasks = [task(commit, "a.py", name=f"t{number}") for number in range(24)]
    running = run(tasks, {"o/n": repository.folder}, plan("slow"), jobs=2)
    next(running)
    processes = active_children()
    running.close()
    assert len(processes) == 2
    assert [process.exitcode for process in processes] == [-signal.SIGTERM] * 2


def test_a_folder_that_is_no_repository_stops_the_run(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(InputError, match="is no git repository"):
        list(run([task("f" * 40, "a.py")], {"o/n": tmp_path}, plan()))
