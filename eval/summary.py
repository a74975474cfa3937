"""Cells of a localisation benchmark, brought to rates, intervals and paired tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .localisation import Cell, Plan
from .measures import BUCKETS, DEPTHS
from .statistics import discordant, mcnemar, paired_bootstrap, wilson


@dataclass(frozen=True, slots=True)
class Ranking:
    """All tasks under one generator and one value function, in one order of tasks.

    Args:
        first: shape ``(tasks,)``, rank of the best placed gold file, infinite where none is ranked.
        last: shape ``(tasks,)``, rank of the worst placed gold file, infinite where one is missing.
        any_found, all_found: shape ``(tasks,)``, whether gold is among the candidates; the same under every
            value function, also under one that fails.
        any_on_page, all_on_page: shape ``(tasks, budgets)``.
        candidates: shape ``(tasks,)``.
        seconds: shape ``(tasks,)``.
        repos: of each task.
    """

    first: NDArray[np.float64]
    last: NDArray[np.float64]
    any_found: NDArray[np.bool_]
    all_found: NDArray[np.bool_]
    any_on_page: NDArray[np.bool_]
    all_on_page: NDArray[np.bool_]
    candidates: NDArray[np.int64]
    seconds: NDArray[np.float64]
    repos: NDArray[np.str_]


def gather(cells: Sequence[Cell]) -> dict[tuple[str, str], Ranking]:
    """The cells by (generator, value function), tasks in one order everywhere."""
    grouped: dict[tuple[str, str], list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: (cell.repo, cell.task)):
        grouped.setdefault((cell.generator, cell.function), []).append(cell)
    return {key: _ranking(of) for key, of in grouped.items()}


def summarise(cells: Sequence[Cell], plan: Plan, reference: str) -> dict[str, Any]:
    """Everything a table or a plot needs, as plain numbers.

    Args:
        cells: of all tasks.
        plan: what was measured.
        reference: the value function that all others are compared with, generator by generator.

    Returns:
        ``tasks``, ``errors`` (by task and value function, why it could not be measured), ``generators``
        (what each finds at all), ``rankings`` (rates of each value function), ``comparisons`` (paired, at
        rank 1) and ``repositories``.
    """
    rankings = gather(cells)
    return {
        "tasks": len(next(iter(rankings.values())).first),
        "errors": _errors(cells),
        "generators": [_found(name, rankings, plan) for name in plan.generators],
        "rankings": [
            {"generator": generator, "function": function, **_rates(rankings[generator, function], plan)}
            for generator in plan.generators
            for function in plan.functions
        ],
        "comparisons": [
            {"generator": generator, "function": reference, "against": other,
             **compare(rankings[generator, reference].first <= 1, rankings[generator, other].first <= 1,
                       rankings[generator, reference].repos)}
            for generator in plan.generators
            for other in plan.functions
            if other != reference and reference in plan.functions
        ],
        "repositories": _by_repository(rankings, plan),
    }  # fmt: skip


def misses(summary: Mapping[str, Any]) -> tuple[list[str], dict[str, int]]:
    """What could not be measured, which counts as missed.

    Args:
        summary: of `summarise`.

    Returns:
        The tasks on which every value function failed; and on how many of the others each that failed did.
    """
    functions = dict.fromkeys(row["function"] for row in summary["rankings"])
    lost = [task for task, errors in summary["errors"].items() if errors.keys() == functions.keys()]
    others = [errors for task, errors in summary["errors"].items() if task not in lost]
    failed = {name: sum(name in errors for errors in others) for name in functions}
    return lost, {name: count for name, count in failed.items() if count}


def compare(ours: NDArray[np.bool_], theirs: NDArray[np.bool_], repos: NDArray[np.str_]) -> dict[str, Any]:
    """Two value functions on the same tasks: difference, exact McNemar test, paired bootstrap intervals."""
    b, c = discordant(ours, theirs)
    return {
        "difference": float(ours.mean() - theirs.mean()),
        "b": b,
        "c": c,
        "p": mcnemar(b, c),
        "by_task": paired_bootstrap(ours, theirs),
        "by_repository": paired_bootstrap(ours, theirs, clusters=repos),
    }


def rate(hits: NDArray[np.bool_]) -> dict[str, Any]:
    """A share of tasks with its 95 % Wilson interval."""
    low, high = wilson(int(hits.sum()), hits.size)
    return {"rate": float(hits.mean()), "hits": int(hits.sum()), "interval": [low, high]}


def _ranking(cells: Sequence[Cell]) -> Ranking:
    complete = [len(cell.ranks) == cell.gold for cell in cells]
    pages = np.array([cell.on_page for cell in cells])
    gold = np.array([cell.gold for cell in cells])
    found = np.array([cell.found for cell in cells])
    return Ranking(
        first=np.array([cell.ranks[0] if cell.ranks else np.inf for cell in cells]),
        last=np.array([cell.ranks[-1] if whole and cell.ranks else np.inf
                       for cell, whole in zip(cells, complete, strict=True)]),
        any_found=found > 0,
        all_found=(found == gold) & (gold > 0),
        any_on_page=pages > 0,
        all_on_page=(pages == gold[:, None]) & (gold[:, None] > 0),
        candidates=np.array([cell.candidates for cell in cells]),
        seconds=np.array([cell.seconds for cell in cells]),
        repos=np.array([cell.repo for cell in cells]),
    )  # fmt: skip


def _errors(cells: Sequence[Cell]) -> dict[str, dict[str, str]]:
    errors: dict[str, dict[str, str]] = {}
    for cell in cells:
        if cell.error:
            errors.setdefault(cell.task, {}).setdefault(cell.function, cell.error)
    return errors


def _found(name: str, rankings: Mapping[tuple[str, str], Ranking], plan: Plan) -> dict[str, Any]:
    """What a generator finds at all; ``missed``: of the tasks that the first generator misses."""
    ranking = rankings[name, plan.functions[0]]
    missed = ~rankings[plan.generators[0], plan.functions[0]].any_found
    buckets = {}
    for label, low, high in BUCKETS:
        inside = (ranking.candidates >= low) & (ranking.candidates <= high)
        if inside.any():
            buckets[label] = {"tasks": int(inside.sum()), **rate(ranking.any_found[inside])}
    return {
        "generator": name,
        "candidates": {
            "mean": float(ranking.candidates.mean()),
            "median": float(np.median(ranking.candidates)),
        },
        "any": rate(ranking.any_found),
        "all": rate(ranking.all_found),
        "missed": rate(ranking.any_found[missed]) if missed.any() else None,
        "buckets": buckets,
    }


def _rates(ranking: Ranking, plan: Plan) -> dict[str, Any]:
    def at_depths(ranks: NDArray[np.float64]) -> dict[str, Any]:
        return {str(depth): rate(ranks <= depth) for depth in DEPTHS}

    def on_pages(pages: NDArray[np.bool_]) -> dict[str, Any]:
        return {str(budget): rate(pages[:, place]) for place, budget in enumerate(plan.budgets)}

    return {
        "any": at_depths(ranking.first),
        "all": at_depths(ranking.last),
        "any_on_page": on_pages(ranking.any_on_page),
        "all_on_page": on_pages(ranking.all_on_page),
        "macro_p1": float(np.mean([(ranking.first[ranking.repos == repo] <= 1).mean()
                                   for repo in np.unique(ranking.repos)])),
        "seconds": {name: float(np.quantile(ranking.seconds, share))
                    for name, share in (("p50", 0.5), ("p95", 0.95))},
    }  # fmt: skip


def _by_repository(rankings: dict[tuple[str, str], Ranking], plan: Plan) -> list[dict[str, Any]]:
    generator = plan.generators[-1]
    repos = rankings[generator, plan.functions[0]].repos
    measures: dict[str, Callable[[Ranking, NDArray[np.bool_]], float]] = {
        "p1": lambda ranking, of: float((ranking.first[of] <= 1).mean()),
        "p@50": lambda ranking, of: float((ranking.first[of] <= 50).mean()),
    }
    return [
        {"repository": str(repo), "tasks": int((repos == repo).sum()), "generator": generator}
        | {
            name: {
                function: measure(rankings[generator, function], repos == repo) for function in plan.functions
            }
            for name, measure in measures.items()
        }
        for repo in np.unique(repos)
    ]
