"""Summaries as Markdown tables, for a terminal and for the documentation."""

from collections.abc import Sequence
from typing import Any


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


def percent(rate: dict[str, Any], *, interval: bool = False) -> str:
    """A rate of `eval.summary` in percent, with its interval if asked for.

    Example:
        >>> percent({"rate": 0.242, "interval": [0.2066, 0.2814]}, interval=True)
        '24.2 (20.7–28.1)'
    """
    shown = f"{100 * rate['rate']:.1f}"
    low, high = rate["interval"]
    return f"{shown} ({100 * low:.1f}–{100 * high:.1f})" if interval else shown


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
        "### A gold file on the page\n",
        _pages(summary, "any_on_page"),
        "### All gold files on the page\n",
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
        "A gold file on the page:\n",
        _pages(summary, "any_on_page"),
    ]
    return "\n".join(parts)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    others = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "| " + " | ".join([first, *others]) + " |"


def _errors(summary: dict[str, Any]) -> list[str]:
    """How many tasks failed, and why the first one did; nothing if none did."""
    errors = summary["errors"]
    told = f"{len(errors)} of {summary['tasks']} tasks could not be measured and count as misses; "
    return [f"{told}{task}: {error}.\n" for task, error in list(errors.items())[:1]]


def _generators(summary: dict[str, Any]) -> str:
    rows = [
        [row["generator"], f"{row['candidates']['mean']:.1f}", f"{row['candidates']['median']:.0f}",
         percent(row["any"], interval=True), percent(row["all"], interval=True)]
        for row in summary["generators"]
    ]  # fmt: skip
    return markdown_table(["generator", "mean candidates", "median", "any gold", "all gold"], rows)


def _depths(summary: dict[str, Any], which: str) -> str:
    depths = list(summary["rankings"][0][which])
    rows = [
        [row["generator"], row["function"],
         *(percent(row[which][depth], interval=depth == "1") for depth in depths)]
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
    rows = [
        [row["generator"], f"{row['function']} against {row['against']}", f"{100 * row['difference']:+.1f}",
         str(row["b"]), str(row["c"]), probability(row["p"]),
         _range(row["by_task"]), _range(row["by_repository"])]
        for row in summary["comparisons"]
    ]  # fmt: skip
    headings = ["candidates", "pair", "difference", "b", "c", "McNemar p", "by task", "by repository"]
    return markdown_table(headings, rows)


def _repositories(summary: dict[str, Any]) -> str:
    functions = list(summary["repositories"][0]["p1"])
    rows = [
        [row["repository"], str(row["tasks"]), *(f"{100 * row['p1'][name]:.1f}" for name in functions)]
        for row in summary["repositories"]
    ]
    return markdown_table(["repository", "tasks", *functions], rows)


def probability(p: float) -> str:
    """A p-value as papers print it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _range(interval: Sequence[float]) -> str:
    low, high = interval
    return f"{100 * low:+.1f} to {100 * high:+.1f}"
