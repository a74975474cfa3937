"""Summaries as Markdown tables, for a terminal and for the documentation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .display import percent, with_interval
from .summary import misses

PAIRED = ("pair", "difference", "b", "c", "McNemar p", "by task", "by repository")  # columns of `paired`

# Stands with each table of pages.
ROWS_ALONE = "A page holds rows alone; the last line that `select` adds may take the room of one."


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A pipe table with aligned columns, the first to the left and the others to the right.

    Example:
        >>> print(markdown_table(["name", "p1"], [["fifo", "24.2"]]), end="")
        | name |   p1 |
        | :--- | ---: |
        | fifo | 24.2 |
    """
    widths = [max(4, *(len(row[place]) for row in [headings, *rows])) for place in range(len(headings))]
    ruler = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [_row(headings, widths), _row(ruler, widths), *(_row(row, widths) for row in rows)]
    return "".join(f"{line}\n" for line in lines)


def localisation_tables(summary: dict[str, Any]) -> str:
    """All tables of a localisation benchmark, in Markdown."""
    parts = [
        f"{summary['tasks']} tasks; shares in percent, with 95 % Wilson intervals.\n",
        *_errors(summary),
        "### What each generator finds\n",
        _generators(summary),
        "### A gold file among the first k\n",
        _depths(summary, "any"),
        "### All gold files among the first k\n",
        _depths(summary, "all"),
        "### Inclusion: a gold file on the page\n",
        f"{ROWS_ALONE}\n",
        _pages(summary, "any_on_page"),
        "### Inclusion of all gold files\n",
        _pages(summary, "all_on_page"),
    ]
    if summary["comparisons"]:
        parts += ["### Paired comparisons at rank 1\n", _comparisons(summary)]
    if len(summary["repositories"]) > 1:
        parts += ["### By repository, ranked first\n", _repositories(summary)]
    return "\n".join(parts)


def short_tables(summary: dict[str, Any]) -> str:
    """What a person reads first: what the candidates hold, ranks and pages of any gold file."""
    parts = [
        f"{summary['tasks']} tasks; shares in percent, with 95 % Wilson intervals.\n",
        *_errors(summary),
        _generators(summary),
        "A gold file among the first k:\n",
        _depths(summary, "any"),
        f"Inclusion, a gold file on the page. {ROWS_ALONE}\n",
        _pages(summary, "any_on_page"),
    ]
    return "\n".join(parts)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    others = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "| " + " | ".join([first, *others]) + " |"


def _errors(summary: dict[str, Any]) -> Iterator[str]:
    """How many tasks could not be measured, how many each value function failed on, and why the first."""
    lost, failed = misses(summary)
    errors, total = summary["errors"], summary["tasks"]
    if lost:
        why = next(iter(errors[lost[0]].values()))
        yield f"{len(lost)} of {total} tasks could not be measured and count as misses; {lost[0]}: {why}.\n"
    for name, count in failed.items():
        task = next(task for task in errors if task not in lost and name in errors[task])
        why = errors[task][name]
        yield f"`{name}` failed on {count} of {total} tasks, which count as its misses; {task}: {why}.\n"


def _generators(summary: dict[str, Any]) -> str:
    rows = [
        [row["generator"], f"{row['candidates']['mean']:.1f}", f"{row['candidates']['median']:.0f}",
         with_interval(row["any"]), with_interval(row["all"])]
        for row in summary["generators"]
    ]  # fmt: skip
    return markdown_table(["generator", "mean candidates", "median", "any gold", "all gold"], rows)


def _depths(summary: dict[str, Any], which: str) -> str:
    depths = list(summary["rankings"][0][which])
    rows = [
        [row["generator"], row["function"],
         *(with_interval(rate) if depth == "1" else percent(rate) for depth, rate in row[which].items())]
        for row in summary["rankings"]
    ]  # fmt: skip
    return markdown_table(["candidates", "value function", *(f"@{depth}" for depth in depths)], rows)


def _pages(summary: dict[str, Any], which: str) -> str:
    budgets = list(summary["rankings"][0][which])
    rows = [
        [row["generator"], row["function"], *(percent(row[which][budget]) for budget in budgets)]
        for row in summary["rankings"]
    ]
    return markdown_table(["candidates", "value function", *(f"{int(b):,} tokens" for b in budgets)], rows)


def _comparisons(summary: dict[str, Any]) -> str:
    rows = [[row["generator"], *paired(row)] for row in summary["comparisons"]]
    return markdown_table(["candidates", *PAIRED], rows)


def _repositories(summary: dict[str, Any]) -> str:
    functions = list(summary["repositories"][0]["p1"])
    rows = [
        [row["repository"], str(row["tasks"]), *(f"{100 * row['p1'][name]:.1f}" for name in functions)]
        for row in summary["repositories"]
    ]
    return markdown_table(["repository", "tasks", *functions], rows)


def paired(row: Mapping[str, Any]) -> list[str]:
    """The cells of a comparison under `PAIRED`.

    Args:
        row: ``function`` and ``against``, with what `eval.summary.compare` says of them.
    """
    by_task, by_repository = (
        f"{100 * low:+.1f} to {100 * high:+.1f}" for low, high in (row["by_task"], row["by_repository"])
    )
    return [
        f"{row['function']} against {row['against']}", f"{100 * row['difference']:+.1f}",
        str(row["b"]), str(row["c"]), probability(row["p"]), by_task, by_repository,
    ]  # fmt: skip


def probability(p: float) -> str:
    """A p-value as papers print it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
