"""One task of a localisation benchmark: candidates, their ranking, and the pages made of them.

Both benchmarks use it: ``bench locate`` on tasks in SWE-bench's format, ``bench history`` on the commits
of a repository of your own. A task sees the files of its base commit and nothing newer.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing import active_children, parent_process
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.costs import row_cost
from ..core.errors import FirstpageError, RunError
from ..core.git import GitStore
from ..core.items import Item, Query
from ..core.pages import first_page
from ..core.values import evaluate, ranking
from ..readers import value_functions
from ..readers.blob_index import BlobIndex
from ..readers.candidates import candidate_generators, candidate_items
from ..readers.corpus import Corpus
from .tasks import Task

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured on every task.

    Args:
        generators: names of candidate generators.
        functions: names of value functions.
        budgets: tokens of a page; a row costs what it does in the first-chunk paper.
        suffixes: endings of the files that make the corpus.
    """

    generators: Sequence[str]
    functions: Sequence[str]
    budgets: Sequence[int]
    suffixes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Cell:
    """One ranking of one task's candidates.

    Args:
        task: name of the task.
        repo: its repository.
        generator: where the candidates came from.
        function: what ranked them.
        files: in the corpus.
        candidates: how many were generated.
        gold: how many gold files the task has.
        found: how many of them are among the candidates, whatever becomes of their ranking.
        ranks: of the gold files among the ranked candidates, from 1, ascending; those not among them
            are left out.
        on_page: gold files on the page of each budget.
        seconds: that the value function took, the reading of bodies not counted.
        first: the path ranked first; empty without candidates.
        error: why the task, or this function on it, could not be measured, which counts as a miss; empty
            as a rule.
    """

    task: str
    repo: str
    generator: str
    function: str
    files: int
    candidates: int
    gold: int
    found: int
    ranks: tuple[int, ...]
    on_page: tuple[int, ...]
    seconds: float
    first: str
    error: str = ""


def measure(task: Task, corpus: Corpus, plan: Plan) -> list[Cell]:
    """All cells of one task: generators x value functions."""
    query = Query(task.query)
    nothing = (0,) * len(plan.budgets)
    made: dict[int, Item] = {}  # a body is read once, whichever generator finds the file
    cells = []
    for generator in plan.generators:
        places = candidate_generators.create(generator).candidates(corpus, query).tolist()
        for place in places:
            if place not in made:
                made[place] = candidate_items(corpus, [place])[0]
        items = [made[place] for place in places]
        found = sum(item.id in task.gold for item in items)
        for item in items:
            _ = item.content
        for name in plan.functions:
            ranks: tuple[int, ...] = ()
            on_page, seconds, first, failed = nothing, 0.0, "", ""
            started = time.perf_counter()
            try:
                values = evaluate(value_functions.create(name), query, items)
            except FirstpageError as error:
                failed = str(error)
            else:
                seconds = time.perf_counter() - started
                ranks, on_page = outcome(items, values, task.gold, plan.budgets)
                first = items[int(ranking(values)[0])].id if items else ""
            cells.append(
                Cell(
                    task.instance_id, task.repo, generator, name, len(corpus.files), len(items),
                    len(task.gold), found, ranks, on_page, seconds, first, failed,
                )
            )  # fmt: skip
    return cells


def outcome(
    items: Sequence[Item], values: NDArray[np.float64], gold: Sequence[str], budgets: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Where the gold is: its ranks among the items, and how much of it is on a page of each budget.

    A page holds rows and nothing else, as in the first-chunk paper. What ``firstpage select`` delivers ends
    in a line that tells what is left and is paid from the same budget, so that now and then a row less has
    room there.

    Example:
        >>> items = [Item("a.py", "a.py"), Item("b.py", "b.py")]
        >>> outcome(items, np.array([0.1, 0.9]), ["a.py"], [31, 70])
        ((2,), (0, 1))
    """
    wanted = set(gold)
    order = ranking(values)
    ranks = tuple(rank for rank, place in enumerate(order, 1) if items[place].id in wanted)
    costs = np.array([row_cost(item.text) for item in items], dtype=np.int64)
    pages = (first_page(values, costs, budget) for budget in budgets)
    return ranks, tuple(sum(items[place].id in wanted for place in page) for page in pages)


def run(
    tasks: Sequence[Task], repositories: Mapping[str, Path], plan: Plan, jobs: int = 1
) -> Iterator[tuple[Task, list[Cell]]]:
    """Measures all tasks as `for_each` does.

    Args:
        tasks: in any order; they come back as they are done.
        repositories: the git directory of each repository that a task names.
        plan: what is measured.
        jobs: processes.

    Yields:
        A task and its cells.

    Raises:
        RunError: one of the processes was ended from outside.
    """
    for task, cells in for_each(tasks, repositories, partial(_measured, plan), jobs):
        yield task, _missed(task, plan, str(cells)) if isinstance(cells, FirstpageError) else cells


def for_each(
    tasks: Sequence[Task],
    repositories: Mapping[str, Path],
    work: Callable[[Task, BlobIndex], T],
    jobs: int = 1,
) -> Iterator[tuple[Task, T | FirstpageError]]:
    """Does the same work on all tasks, those of one repository one after the other.

    Args:
        tasks: in any order; they come back as they are done.
        repositories: the git directory of each repository that a task names.
        work: what is done with a task and its repository; other processes must be able to import it.
        jobs: processes.

    Yields:
        A task and what the work returned, or the error that it raised.

    Raises:
        RunError: one of the processes was ended from outside.
    """
    batches = _batches(tasks, jobs)
    if jobs == 1:
        for batch in batches:
            yield from _one_by_one(batch, repositories[batch[0].repo], work)
        return
    with ProcessPoolExecutor(jobs, initializer=_end_with_parent) as pool:
        waiting = [pool.submit(_batch, batch, repositories[batch[0].repo], work) for batch in batches]
        try:
            for done in as_completed(waiting):
                yield from done.result()
        except BrokenProcessPool:
            raise RunError(
                "a process was ended from outside, maybe for want of memory; use fewer --jobs"
            ) from None
        except BaseException:  # nobody waits for the rest, and nobody should have to
            for process in active_children():
                process.terminate()
            raise


def _end_with_parent() -> None:
    """Lets a process end, without a word, when it is interrupted or the one that started it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _batches(tasks: Sequence[Task], jobs: int) -> list[list[Task]]:
    """Tasks by repository, in batches small enough to keep all processes busy to the end."""
    by_repository: dict[str, list[Task]] = {}
    for task in tasks:
        by_repository.setdefault(task.repo, []).append(task)
    size = max(1, min(20, len(tasks) // (4 * jobs)))
    return [of[start : start + size] for of in by_repository.values() for start in range(0, len(of), size)]


def _batch(
    tasks: Sequence[Task], store: Path, work: Callable[[Task, BlobIndex], T]
) -> list[tuple[Task, T | FirstpageError]]:
    return list(_one_by_one(tasks, store, work))


def _one_by_one(
    tasks: Sequence[Task], store: Path, work: Callable[[Task, BlobIndex], T]
) -> Iterator[tuple[Task, T | FirstpageError]]:
    with GitStore(store) as opened, BlobIndex(opened) as blobs:
        for task in tasks:
            done: T | FirstpageError
            try:
                done = work(task, blobs)
            except FirstpageError as error:
                done = error
            yield task, done


def _measured(plan: Plan, task: Task, blobs: BlobIndex) -> list[Cell]:
    return measure(task, blobs.corpus(task.base_commit, plan.suffixes), plan)


def _missed(task: Task, plan: Plan, error: str) -> list[Cell]:
    nothing = (0,) * len(plan.budgets)
    return [
        Cell(
            task.instance_id, task.repo, generator, name, 0, 0, len(task.gold), 0, (), nothing, 0.0, "", error
        )
        for generator in plan.generators
        for name in plan.functions
    ]  # fmt: skip
