"""Which tasks each value function fails, for the report: the matrix, the missed tasks, the errors."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.items import Query
from .display import cut
from .localisation import Cell
from .tasks import Task

DEEP = 10  # a gold file further down than this is missed

# Where the first gold file landed: label, last rank; drawn from blue over orange to grey.
LANDINGS = (("1", 1), ("2–5", 5), ("6–10", 10), ("11–50", 50), ("later", 10**9))
LANDING_NAMES = (*(label for label, _ in LANDINGS), "not a candidate", "not measured")
_LATE = next(place for place, (_, last) in enumerate(LANDINGS) if last > DEEP)
_NOWHERE, _FAILED = len(LANDINGS), len(LANDINGS) + 1

_COLUMN, _ROW = 10, 22  # of the matrix; columns are stretched to the width of the page, rows are in pixels

_Key = tuple[str, str]  # a task's repository and name


class Failures:
    """The cells by task.

    Args:
        cells: of all generators and value functions.
        tasks: that they were measured on; where one is missing, its query and gold files are not shown.
    """

    def __init__(self, cells: Sequence[Cell], tasks: Sequence[Task]) -> None:
        self._cells = {(cell.generator, cell.function, cell.repo, cell.task): cell for cell in cells}
        self._tasks = {(task.repo, task.instance_id): task for task in tasks}

    def matrix(self, generator: str, functions: Sequence[str]) -> dict[str, Any]:
        """Tasks in columns, functions in rows, coloured by where the first gold file landed.

        Columns are sorted by the landing under the first function, then under the second, and so on, so
        that what several functions share forms blocks.
        """
        landed = {
            key: [_landing(self._cells[generator, name, *key]) for name in functions]
            for key in sorted({(cell.repo, cell.task) for cell in self._cells.values()})
        }
        columns = sorted(landed, key=lambda key: (landed[key], key))
        wide = _COLUMN - 1 if len(columns) <= 80 else _COLUMN  # seams only where they do not eat the colour
        paths = [""] * len(LANDING_NAMES)
        for place, key in enumerate(columns):
            for row, landing in enumerate(landed[key]):
                paths[landing] += f"M{place * _COLUMN} {row * _ROW + 1}h{wide}v{_ROW - 2}h-{wide}z"
        return {
            "functions": functions,
            "missed": [sum(of[row] >= _LATE for of in landed.values()) for row in range(len(functions))],
            "paths": [(landing, path) for landing, path in enumerate(paths) if path],
            "columns": [self._told(generator, functions, key) for key in columns],
            "column": _COLUMN,
            "height": len(functions) * _ROW,
        }

    def missed(
        self, generator: str, functions: Sequence[str], generators: Sequence[str]
    ) -> list[dict[str, Any]]:
        """The tasks whose first gold file the first function ranks below `DEEP`.

        Args:
            generator: whose candidates are ranked.
            functions: the one that misses, and its rivals.
            generators: that may have found what this one did not.

        Returns:
            Nearest to a remedy first: what a rival gets, then what is ranked, then what is not found.
        """
        missed = [
            self._miss(cell, functions, generators)
            for cell in self._cells.values()
            if (cell.generator, cell.function) == (generator, functions[0])
            and not cell.error
            and not _within(cell)
        ]
        return sorted(missed, key=_remedy)

    def unmeasured(self, generator: str, function: str) -> int:
        """How many tasks a function could not rank."""
        return sum(
            bool(cell.error)
            for cell in self._cells.values()
            if (cell.generator, cell.function) == (generator, function)
        )

    def errors(self) -> list[dict[str, Any]]:
        """Each error of a task once: its ``repo``, ``task``, ``functions`` (empty for all) and ``error``."""
        functions = dict.fromkeys(cell.function for cell in self._cells.values())
        failed: dict[tuple[str, str, str], dict[str, None]] = {}
        for cell in self._cells.values():
            if cell.error:
                failed.setdefault((cell.repo, cell.task, cell.error), {})[cell.function] = None
        return [
            {
                "repo": repo,
                "task": task,
                "functions": [] if names.keys() == functions.keys() else list(names),
                "error": cut(error, 300),
            }
            for (repo, task, error), names in sorted(failed.items(), key=lambda entry: entry[0])
        ]

    def _told(self, generator: str, functions: Sequence[str], key: _Key) -> str:
        """All about one task, shown when the pointer rests on its column."""
        lines = [f"{key[1]} · {key[0]}", *_asked(self._tasks.get(key))]
        cells = [self._cells[generator, name, *key] for name in functions]
        if cells[0].error and len({cell.error for cell in cells}) == 1:
            lines.append(f"not measured: {cut(cells[0].error, 200)}")
        else:
            lines += [f"{cell.function}: {_became(cell)}" for cell in cells]
        return "\n".join(lines)

    def _miss(self, cell: Cell, functions: Sequence[str], generators: Sequence[str]) -> dict[str, Any]:
        key = cell.repo, cell.task
        task = self._tasks.get(key)
        rivals = [self._cells[cell.generator, name, *key] for name in functions]
        return {
            "cell": cell,
            "query": cut(Query(task.query).title, 160) if task else "",
            "gold": [cut(path, 160) for path in task.gold] if task else [],
            "first": cut(cell.first, 160),
            "rank": cell.ranks[0] if cell.ranks else None,
            "got": sorted((rival.ranks[0], rival.function) for rival in rivals if _within(rival)),
            "elsewhere": [name for name in generators if self._cells[name, cell.function, *key].found],
        }


def _landing(cell: Cell) -> int:
    if cell.error:
        return _FAILED
    if not cell.ranks:
        return _NOWHERE
    return next(place for place, (_, last) in enumerate(LANDINGS) if cell.ranks[0] <= last)


def _became(cell: Cell) -> str:
    """What became of the first gold file, in words."""
    if cell.error:
        return f"not measured, {cut(cell.error, 90)}"
    rank = f"rank {cell.ranks[0]}" if cell.ranks else "not a candidate"
    instead = "" if cell.ranks[:1] == (1,) or not cell.first else f", first {cut(cell.first, 90)}"
    return rank + instead


def _within(cell: Cell) -> bool:
    return bool(cell.ranks) and cell.ranks[0] <= DEEP


def _asked(task: Task | None) -> list[str]:
    if task is None:
        return []
    more = f" and {len(task.gold) - 3} more" if len(task.gold) > 3 else ""
    gold = ", ".join(cut(path, 90) for path in task.gold[:3])
    return [cut(Query(task.query).title, 140), f"gold: {gold}{more}"]


def _remedy(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    best = entry["got"][0][0] if entry["got"] else math.inf
    return best, entry["rank"] or math.inf, entry["cell"].repo, entry["cell"].task
