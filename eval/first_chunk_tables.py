"""The first-chunk experiment's summary as Markdown tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from .display import percent, with_interval
from .tables import PAIRED, ROWS_ALONE, markdown_table, paired


def first_chunk_tables(summary: Mapping[str, Any]) -> str:
    """All tables of the experiment, in Markdown."""
    candidates, ceiling = summary["candidates"], summary["ceiling"]
    different = [line for line in summary["published"] if line["verdict"] != "same"]
    parts = [
        f"{summary['tasks']} tasks, {candidates['total']:,} candidates (median {candidates['median']:g}, "
        f"{candidates['at_cap']} lists at the cap); a gold file is among them in {percent(ceiling)} % "
        f"({ceiling['hits']} tasks), which bounds every page. Shares in percent, 95 % Wilson intervals.\n",
        f"### A gold file among the first k rows of a page of {summary['budget']:,} tokens\n",
        _depths(summary, "any"),
        "### All gold files among the first k rows\n",
        _depths(summary, "all"),
        "### Inclusion (a gold file on the page) and the page's mean tokens, by budget\n",
        f"{ROWS_ALONE}\n",
        _budgets(summary),
        f"### p1 by number of candidates, at {summary['budget']:,} tokens\n",
        _buckets(summary["buckets"]),
    ]
    if summary["pairs"]:
        parts += [
            "### Paired comparisons at p1: exact McNemar test, bootstrap intervals\n",
            markdown_table(PAIRED, [paired(pair) for pair in summary["pairs"]]),
        ]
    if summary["published"]:
        same = len(summary["published"]) - len(different)
        parts += [
            "### Against the published values\n",
            f"{same} of {len(summary['published'])} are the same, digit for digit; p@k at every budget.\n",
            _published(summary["published"]),
            *(f"- {', '.join(whats)}: {why}." for why, whats in _reasons(different).items()),
        ]
    return "\n".join(parts).rstrip("\n") + "\n"


def _depths(summary: Mapping[str, Any], which: str) -> str:
    pages = [page for page in summary["pages"] if page["budget"] == summary["budget"]]
    depths = list(pages[0][which])
    rows = [[page["function"], *(with_interval(page[which][k]) for k in depths)] for page in pages]
    return markdown_table(["value function", *(f"p@{k[1:]}" if k != "p1" else k for k in depths)], rows)


def _budgets(summary: Mapping[str, Any]) -> str:
    budgets = sorted({page["budget"] for page in summary["pages"]})
    by_key = {(page["function"], page["budget"]): page for page in summary["pages"]}
    functions = list(dict.fromkeys(page["function"] for page in summary["pages"]))
    rows = [
        [
            function,
            *(percent(by_key[function, budget]["any_on_page"]) for budget in budgets),
            *(f"{by_key[function, budget]['tokens']:.1f}" for budget in budgets),
        ]
        for function in functions
    ]
    headings = [f"{budget:,} tokens" for budget in budgets] + [f"mean at {budget:,}" for budget in budgets]
    return markdown_table(["value function", *headings], rows)


def _buckets(buckets: Sequence[Mapping[str, Any]]) -> str:
    sizes = {row["bucket"]: row["tasks"] for row in buckets}
    functions = list(dict.fromkeys(row["function"] for row in buckets))
    p1 = {(row["function"], row["bucket"]): row["p1"] for row in buckets}
    rows = [[function, *(with_interval(p1[function, bucket]) for bucket in sizes)] for function in functions]
    return markdown_table(["value function", *(f"{name} ({count})" for name, count in sizes.items())], rows)


def _published(lines: Sequence[Mapping[str, Any]]) -> str:
    rows = [[line["what"], f"{line['published']:g}", f"{line['ours']:g}", line["verdict"]] for line in lines]
    return markdown_table(["value", "published", "ours", "verdict"], rows)


def _reasons(different: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What differs, by why it does."""
    found: dict[str, list[str]] = {}
    for line in different:
        found.setdefault(line["why"] or "not explained", []).append(line["what"])
    return found
