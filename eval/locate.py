"""The localisation benchmark: tasks in, summary out."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .localisation import Cell, Plan, run
from .summary import summarise
from .tasks import Task


def locate(
    tasks: Sequence[Task],
    repositories: Mapping[str, Path],
    plan: Plan,
    reference: str,
    jobs: int,
    step: Callable[[], None],
) -> tuple[dict[str, Any], list[Cell]]:
    """Measures all tasks and sums them up.

    Args:
        tasks: at least one.
        repositories: the git directory of each repository that a task names.
        plan: what is measured.
        reference: the value function that the others are compared with.
        jobs: processes.
        step: called when a task is done.

    Returns:
        The summary of `eval.summary.summarise`, and the cells ordered by task, generator and function.
    """
    cells: list[Cell] = []
    for _, measured in run(tasks, repositories, plan, jobs):
        cells += measured
        step()
    cells.sort(key=lambda cell: (cell.repo, cell.task, cell.generator, cell.function))
    return summarise(cells, plan, reference), cells
