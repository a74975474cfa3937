"""The first-chunk experiment of arXiv 2608.26130: whether a page of grep's answer holds the file to change.

Each cell is a task, a value function and a budget. The candidates of the task are its items, a row costs
`core.costs.row_cost`, the page is the exact 0/1 knapsack on value in order of value, and p@k is taken on
that page. The paper tests its hypotheses at 2,000 tokens; its p@k are the same at all four budgets, as
they are here, because only lists of more than 23 rows meet the smallest budget at all.

Run it with ``firstpage bench select``.
"""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.costs import row_cost
from ..core.errors import InputError
from ..core.files import write_atomically
from ..core.git import GitStore
from ..core.items import Item, Query
from ..core.selection import select_exact
from ..core.values import ValueFunction, evaluate, ranking
from ..readers.blob_index import BlobIndex
from ..readers.candidates import Grep
from ..readers.sources import PYTHON
from .first_chunk_tables import first_chunk_tables
from .measures import BUCKETS, BUDGETS, first_rank, included, last_rank, p_at
from .parquet import parquet
from .summary import compare, rate
from .tasks import Task

FUNCTIONS = ("fifo", "random", "reversed", "priority_kw", "priority_kw_plus", "priority_all")
MAIN_BUDGET = 2000  # where the paper tests its hypotheses
PAPER_DEPTHS = (1, 3, 5, 10)
CAP = 50  # rows of the paper's generator
# The paper's names of `BUCKETS`, with the most rows of each.
PAPER_BUCKETS = {
    f"{size}_{rows}": most
    for size, (rows, _, most) in zip(("small", "medium", "large"), BUCKETS, strict=True)
}
# The paper's hypotheses 1 and 2 are the first two: keyword against FIFO, composite against keyword.
PAIRS = (
    ("priority_kw", "fifo"),
    ("priority_all", "priority_kw"),
    ("priority_kw_plus", "priority_kw"),
    ("priority_kw_plus", "fifo"),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One page: a task, a value function and a budget.

    Args:
        instance_id: name of the task.
        repo: its repository.
        value_function: by name.
        budget: tokens.
        n_candidates: rows of the answer.
        bucket: of that number.
        gold_in_candidates: whether any gold file is among them, which bounds what a page can reach.
        p1, p3, p5, p10: whether any gold file is among the first rows of the page.
        rank: of the best placed gold file on the page, from 1; None if none is on it.
        all_rank: of the worst placed gold file; None if one is missing.
        tokens: of the page.
        items: rows of the page.
    """

    instance_id: str
    repo: str
    value_function: str
    budget: int
    n_candidates: int
    bucket: str
    gold_in_candidates: bool
    p1: bool
    p3: bool
    p5: bool
    p10: bool
    rank: int | None
    all_rank: int | None
    tokens: int
    items: int


def measure(
    task: Task,
    candidates: Mapping[str, Sequence[str]],
    functions: Sequence[ValueFunction],
    budgets: Sequence[int] = BUDGETS,
) -> list[Cell]:
    """All cells of one task.

    Args:
        task: whose issue is the query.
        candidates: paths by name of the task, in the generator's order.
        functions: what gives the rows their values.
        budgets: tokens.

    Raises:
        InputError: the task has no entry among the candidates.
    """
    if task.instance_id not in candidates:
        raise InputError(f"the candidates have no entry for the task '{task.instance_id}'")
    rows = candidates[task.instance_id]
    items = [Item(path, path, metadata={"path": path}) for path in rows]
    costs = np.array([row_cost(path) for path in rows], dtype=np.int64)
    gold = np.isin(np.array(rows, dtype=np.str_), np.array(task.gold, dtype=np.str_))
    cells = []
    for function in functions:
        values = evaluate(function, Query(task.query), items)
        for budget in budgets:
            chosen = select_exact(values, costs, budget)
            page = chosen[ranking(values[chosen])]
            cells.append(_cell(task, function.name, budget, gold, page, int(costs[page].sum())))
    return cells


def grep_candidates(
    tasks: Sequence[Task], repositories: Mapping[str, Path], step: Callable[[], None]
) -> dict[str, list[str]]:
    """The paper's candidates of each task, searched for in its repository.

    Args:
        tasks: whose keywords are looked for at the base commit.
        repositories: the git directory of each repository that a task names.
        step: called when a task is done.

    Returns:
        Paths by name of the task, in the generator's order.

    Raises:
        InputError: a repository lacks a base commit.
    """
    found = {}
    for repo, of_repo in itertools.groupby(sorted(tasks, key=lambda task: task.repo), lambda task: task.repo):
        with GitStore(repositories[repo]) as store, BlobIndex(store) as index:
            for task in of_repo:
                corpus = index.corpus(task.base_commit, PYTHON)
                places = Grep().candidates(corpus, Query(task.query), CAP)
                found[task.instance_id] = [corpus.files[place].path for place in places]
                step()
    return found


def bucket_of(count: int) -> str:
    """The paper's class of an answer by its number of rows; its smallest takes an empty answer too."""
    return next(name for name, most in PAPER_BUCKETS.items() if count <= most)


def summarise(cells: Sequence[Cell]) -> dict[str, Any]:
    """All figures of the experiment, as plain numbers.

    Args:
        cells: of all tasks; every task with the same value functions and budgets.

    Returns:
        ``tasks``, ``candidates``, ``ceiling`` (gold among the candidates at all), ``budget`` (where pairs and
        buckets are taken), ``pages`` (rates of each value function and budget), ``buckets``, ``pairs``.
    """
    groups: dict[tuple[str, int], list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.instance_id):
        groups.setdefault((cell.value_function, cell.budget), []).append(cell)
    functions = list(dict.fromkeys(name for name, _ in groups))
    budgets = sorted({budget for _, budget in groups})
    budget = MAIN_BUDGET if MAIN_BUDGET in budgets else budgets[-1]
    at_budget = {name: groups[name, budget] for name in functions}
    one = at_budget[functions[0]]
    return {
        "tasks": len(one),
        "candidates": _candidates(one),
        "ceiling": rate(np.array([cell.gold_in_candidates for cell in one])),
        "budget": budget,
        "pages": [_page_rates(*key, groups[key]) for key in groups],
        "buckets": [row for name in functions for row in _bucket_rates(name, at_budget[name])],
        "pairs": [
            {"function": ours, "against": theirs, **_pair(at_budget[ours], at_budget[theirs])}
            for ours, theirs in PAIRS
            if ours in functions and theirs in functions
        ],
    }


def write_first_chunk(folder: Path, cells: Sequence[Cell], summary: Mapping[str, Any]) -> None:
    """Writes ``cells.parquet``, ``summary.json`` and ``table.md``, each whole or not at all.

    Args:
        folder: made if it is not there.
        cells: a row each.
        summary: of `summarise`, with ``published`` and ``provenance`` added.

    Raises:
        MissingExtraError: pyarrow is not installed.
        RunError: the folder cannot be written to.
    """
    ordered = sorted(cells, key=lambda cell: (cell.instance_id, cell.value_function, cell.budget))
    write_atomically(folder / "cells.parquet", parquet([asdict(cell) for cell in ordered]))
    write_atomically(folder / "summary.json", json.dumps(summary, indent=1) + "\n")
    write_atomically(folder / "table.md", first_chunk_tables(summary))


def _cell(
    task: Task, function: str, budget: int, gold: NDArray[np.bool_], page: NDArray[np.intp], tokens: int
) -> Cell:
    first = first_rank(gold[page])
    last = last_rank(gold[page], len(task.gold))
    return Cell(
        instance_id=task.instance_id,
        repo=task.repo,
        value_function=function,
        budget=budget,
        n_candidates=gold.size,
        bucket=bucket_of(gold.size),
        gold_in_candidates=bool(gold.any()),
        p1=first <= 1,
        p3=first <= 3,
        p5=first <= 5,
        p10=first <= 10,
        rank=int(first) if np.isfinite(first) else None,
        all_rank=int(last) if np.isfinite(last) else None,
        tokens=tokens,
        items=page.size,
    )


def _ranks(cells: Sequence[Cell], which: str = "rank") -> NDArray[np.float64]:
    """Shape ``(cells,)``, infinite where the page has no such gold."""
    return np.array([getattr(cell, which) or np.inf for cell in cells], dtype=np.float64)


def _candidates(cells: Sequence[Cell]) -> dict[str, Any]:
    counts = np.array([cell.n_candidates for cell in cells])
    return {
        "total": int(counts.sum()),
        "median": float(np.median(counts)),
        "at_cap": int((counts == CAP).sum()),
    }


def _page_rates(function: str, budget: int, cells: Sequence[Cell]) -> dict[str, Any]:
    best, worst = _ranks(cells), _ranks(cells, "all_rank")
    return {
        "function": function,
        "budget": budget,
        "any": {f"p{k}": rate(p_at(best, k)) for k in PAPER_DEPTHS},
        "all": {f"p{k}": rate(p_at(worst, k)) for k in PAPER_DEPTHS},
        "any_on_page": rate(included(best)),
        "all_on_page": rate(included(worst)),
        "tokens": float(np.mean([cell.tokens for cell in cells])),
        "items": float(np.mean([cell.items for cell in cells])),
    }


def _bucket_rates(function: str, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    rows = []
    for bucket in PAPER_BUCKETS:
        inside = [cell for cell in cells if cell.bucket == bucket]
        if inside:
            p1 = rate(p_at(_ranks(inside), 1))
            rows.append({"bucket": bucket, "function": function, "tasks": len(inside), "p1": p1})
    return rows


def _pair(ours: Sequence[Cell], theirs: Sequence[Cell]) -> dict[str, Any]:
    repos = np.array([cell.repo for cell in ours])
    return compare(p_at(_ranks(ours), 1), p_at(_ranks(theirs), 1), repos)
