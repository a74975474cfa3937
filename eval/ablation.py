"""What each constant of `hybrid` is worth, and what it reaches on repositories that chose none of them.

The constants were chosen on the same tasks that a sweep over them measures, so that the best of the sweep
flatters. The honest figure leaves one repository out: its tasks are ranked with the constants of a grid
that do best on all others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import FirstpageError, InputError
from ..core.items import Item, Query
from ..core.values import ranking
from ..readers.blob_index import BlobIndex
from ..readers.candidates import candidate_generators, candidate_items
from ..readers.hybrid import WEIGHTS, SignalFinder, Weights, weighted
from ..readers.sources import PYTHON
from .display import percent, with_interval
from .localisation import for_each
from .measures import first_rank, p_at
from .statistics import discordant, mcnemar
from .summary import rate
from .tables import markdown_table, probability
from .tasks import Task

GENERATOR = "union"
SHOWN_DEPTHS = (1, 5, 10, 50)

Values = Mapping[str, Sequence[float]]

# One at a time, all others at their defaults.
SWEEP: Values = {
    "k1": (0, 1.2, 2, 6, 8, 12, 16),
    "definitions": (0, 0.1, 0.2, 0.4, 0.5),
    "path": (0, 0.1, 0.2, 0.4, 0.5),
    "named": (0, 0.25, 0.75, 1),
    "frames": (0, 0.5, 0.75, 1.5, 2),
    "title": (0, 1, 3),
    "code": (0, 0.25, 1),
    "test": (0, 0.01, 0.3, 1),
    "beside": (0, 0.1, 0.3, 1),
}
# All with all. Halves and doubles, not values around the defaults, which these tasks have chosen.
GRID: Values = {
    "k1": (1, 2, 4, 8),
    "definitions": (0, 0.25, 0.5, 1),
    "path": (0, 0.25, 0.5, 1),
    "named": (0, 0.25, 0.5, 1),
    "frames": (0, 0.25, 0.5, 1),
    "title": (0, 1, 2),
    "code": (0, 0.5, 1),
    "test": (0.1, 1),
    "beside": (0.5, 1),
}


def ablate(
    tasks: Sequence[Task],
    repositories: Mapping[str, Path],
    jobs: int,
    step: Callable[[], None],
    sweep: Values = SWEEP,
    grid: Values = GRID,
) -> dict[str, Any]:
    """Ranks the candidates of all tasks with all settings, and sums up.

    Args:
        tasks: of two repositories at least.
        repositories: the git directory of each repository that a task names.
        jobs: processes.
        step: called when a task is done.
        sweep: values that each weight takes while the others keep their defaults.
        grid: values of each weight that are tried together; weights that are not named keep their defaults.

    Returns:
        ``default``, ``sweep`` and ``held_out`` with their rates, what each repository's others chose, the
        ``best`` setting on all tasks, and the spread of p1 over the grid.

    Raises:
        InputError: all tasks are of one repository.
    """
    if len({task.repo for task in tasks}) < 2:
        raise InputError(
            "choosing constants without a task's repository takes tasks of two, and there is one"
        )
    one_at_a_time = [(name, value) for name, values in sweep.items() for value in values]
    varied = [replace(WEIGHTS, **{name: value}) for name, value in one_at_a_time]
    gridded = [replace(WEIGHTS, **dict(zip(grid, values, strict=True))) for values in product(*grid.values())]
    tasks = sorted(tasks, key=_key)
    ranks, errors = _all_ranks(tasks, repositories, [WEIGHTS, *varied, *gridded], jobs, step)
    (default,), swept, tried = np.split(ranks, [1, 1 + len(varied)])
    repos = np.array([task.repo for task in tasks])
    return {
        "tasks": len(tasks),
        "generator": GENERATOR,
        "weights": asdict(WEIGHTS),
        "errors": errors,
        "found": rate(np.isfinite(default)),
        "default": _rates(default, default, repos),
        "sweep": [
            {"weight": name, "value": value, **_rates(found, default, repos)}
            for (name, value), found in zip(one_at_a_time, swept, strict=True)
        ],
        "grid": {"values": grid, "settings": len(gridded), "p1": _spread(p_at(tried, 1).mean(axis=1))},
        **_chosen(tried, gridded, default, repos, list(grid)),
    }


def choose(ranks: NDArray[np.float64]) -> int:
    """The best setting by p1, then p@5, then mean reciprocal rank; the first of equals.

    Args:
        ranks: shape ``(settings, tasks)``, of the best placed gold file, infinite where there is none.

    Example:
        >>> choose(np.array([[1, 9], [1, 4], [2, 2]]))
        1
    """
    merits = ((1 / ranks).sum(axis=1), p_at(ranks, 5).sum(axis=1), p_at(ranks, 1).sum(axis=1))
    return int(np.lexsort([-merit for merit in merits])[0])


def ranks_with(
    query: Query, items: Sequence[Item], gold: Sequence[str], settings: Sequence[Weights]
) -> NDArray[np.float64]:
    """Rank of the best placed gold item with each setting, infinite where no item is gold."""
    wanted = set(gold)
    is_gold = np.array([item.id in wanted for item in items], dtype=np.bool_)
    if not is_gold.any():
        return np.full(len(settings), np.inf)
    signals = cache(SignalFinder(query, items).signals)
    values = (weighted(signals(of.k1, of.title, of.code), of) for of in settings)
    return np.array([first_rank(is_gold[ranking(one)]) for one in values])


def ablation_tables(summary: Mapping[str, Any]) -> str:
    """The summary as Markdown."""
    grid, spread = summary["grid"], summary["grid"]["p1"]
    main = {
        "the defaults, chosen on these tasks": summary["default"],
        "the grid's best on the other repositories": summary["held_out"],
        "the grid's best, chosen on these tasks": summary["best"],
    }
    swept = {f"{row['weight']} {row['value']:g}": row for row in summary["sweep"]}
    parts = [
        f"{summary['tasks']} tasks, of which {len(summary['errors'])} could not be measured and count as "
        f"missed. The candidates of `{summary['generator']}`, generated with the defaults, hold a gold file "
        f"in {percent(summary['found'])} %.\n",
        "A gold file among the first k in percent: over the tasks (p1 with its 95 % Wilson interval) / the "
        "mean of the repositories. Won and lost: tasks with a gold file ranked first where the defaults rank "
        "none first, and the reverse; p from the exact two-sided McNemar test.\n",
        "### All constants together\n",
        _settings("constants", main),
        f"The grid's {grid['settings']:,} settings reach p1 {100 * spread['lowest']:.1f} to "
        f"{100 * spread['highest']:.1f}, half of them {100 * spread['median']:.1f} or more.\n",
        _grid(summary),
        "### One constant changed\n",
        _settings("constant", {"the defaults": summary["default"], **swept}),
        "### By repository: p1, and the grid's best on the others\n",
        _repositories(summary),
    ]
    return "\n".join(parts)


def _key(task: Task) -> tuple[str, str]:
    return task.repo, task.instance_id


def _all_ranks(
    tasks: Sequence[Task],
    repositories: Mapping[str, Path],
    settings: Sequence[Weights],
    jobs: int,
    step: Callable[[], None],
) -> tuple[NDArray[np.float64], dict[str, str]]:
    """Ranks, shape ``(settings, tasks)``, and why tasks could not be measured, which count as misses."""
    places = {_key(task): place for place, task in enumerate(tasks)}
    ranks = np.full((len(settings), len(tasks)), np.inf)
    errors = {}
    for task, found in for_each(tasks, repositories, partial(_task_ranks, settings), jobs):
        if isinstance(found, FirstpageError):
            errors[task.instance_id] = str(found)
        else:
            ranks[:, places[_key(task)]] = found
        step()
    return ranks, errors


def _task_ranks(settings: Sequence[Weights], task: Task, blobs: BlobIndex) -> NDArray[np.float64]:
    query = Query(task.query)
    corpus = blobs.corpus(task.base_commit, PYTHON)
    places = candidate_generators.create(GENERATOR).candidates(corpus, query)
    return ranks_with(query, candidate_items(corpus, places), task.gold, settings)


def _chosen(
    tried: NDArray[np.float64],
    settings: Sequence[Weights],
    default: NDArray[np.float64],
    repos: NDArray[np.str_],
    names: Sequence[str],
) -> dict[str, Any]:
    """What the best setting reaches: chosen on all tasks, and for each repository on those of the others."""
    best = choose(tried)
    others = {str(repo): choose(tried[:, repos != repo]) for repo in np.unique(repos)}
    held_out = np.array([tried[others[repo], place] for place, repo in enumerate(repos)])
    return {
        "best": {"weights": asdict(settings[best]), **_rates(tried[best], default, repos)},
        "held_out": _rates(held_out, default, repos),
        "repositories": [
            {
                "repository": repo,
                "tasks": int((repos == repo).sum()),
                "default": float(p_at(default[repos == repo], 1).mean()),
                "held_out": float(p_at(held_out[repos == repo], 1).mean()),
                "chosen": {name: getattr(settings[place], name) for name in names},
            }
            for repo, place in others.items()
        ],
    }


def _spread(shares: NDArray[np.float64]) -> dict[str, float]:
    return {
        "lowest": float(shares.min()),
        "median": float(np.median(shares)),
        "highest": float(shares.max()),
    }


def _rates(
    ranks: NDArray[np.float64], default: NDArray[np.float64], repos: NDArray[np.str_]
) -> dict[str, Any]:
    won, lost = discordant(p_at(ranks, 1), p_at(default, 1))
    any_gold = {
        str(depth): rate(p_at(ranks, depth))
        | {"macro": float(np.mean([p_at(ranks[repos == repo], depth).mean() for repo in np.unique(repos)]))}
        for depth in SHOWN_DEPTHS
    }
    return {"any": any_gold, "won": won, "lost": lost, "p": mcnemar(won, lost)}


def _settings(heading: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    listed = [
        [
            name,
            *(
                f"{with_interval(found) if depth == '1' else percent(found)} / {percent(found['macro'])}"
                for depth, found in row["any"].items()
            ),
            str(row["won"]),
            str(row["lost"]),
            probability(row["p"]),
        ]
        for name, row in rows.items()
    ]
    return markdown_table(
        [heading, "p1", *(f"@{depth}" for depth in SHOWN_DEPTHS[1:]), "won", "lost", "p"], listed
    )


def _grid(summary: Mapping[str, Any]) -> str:
    rows = [
        [name, f"{summary['weights'][name]:g}", ", ".join(f"{value:g}" for value in values),
         f"{summary['best']['weights'][name]:g}"]
        for name, values in summary["grid"]["values"].items()
    ]  # fmt: skip
    return markdown_table(["weight", "default", "on the grid", "best"], rows)


def _repositories(summary: Mapping[str, Any]) -> str:
    names = list(summary["grid"]["values"])
    rows = [
        [row["repository"], str(row["tasks"]), f"{100 * row['default']:.1f}", f"{100 * row['held_out']:.1f}",
         *(f"{row['chosen'][name]:g}" for name in names)]
        for row in summary["repositories"]
    ]  # fmt: skip
    return markdown_table(["repository", "tasks", "defaults", "held out", *names], rows)
