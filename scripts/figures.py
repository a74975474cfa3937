"""Puts the figures of ``eval/results`` into the documents, so that none is typed by hand.

Run from the repository's root: ``python -m firstpage.scripts.figures`` (``make figures``). What stands in
a document between ``<!-- figures: NAME -->`` and ``<!-- end -->`` is replaced by the table of that name.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.files import write_atomically
from ..eval.display import percent, with_interval
from ..eval.tables import PAIRED, markdown_table, paired

DOCUMENTS = ("README.md", "docs/*.md")
_SHOWN = ("fifo", "priority_kw_plus", "bm25", "hybrid", "bi-encoder", "fused")
_WITHOUT = re.compile(r"fused@.*\bwithout_(\w+)/model")
_SLOT = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

SPEED = {
    "test_ten_thousand_items_by_keyword": "select from 10,000 items with `priority_kw`",
    "test_fifty_items_at_eight_thousand_tokens_exactly": "select from 50 items at 8,000 tokens, exactly",
    "test_warm": "candidates of a commit of 2,700 files, warm",
    "test_the_next_commit": "the same for the next commit",
    "test_cold": "the same with an empty cache",
    "test_start[help]": "`firstpage --help`",
    "test_start[select]": "`firstpage select` of one line",
    "test_fifty_candidates_fused": "50 candidates of a commit of 2,700 files by `fused`, warm",
    "test_fifty_candidates_and_a_cross_encoder": "the same, then the best 10 by a cross-encoder",
    "test_embedding_from_nothing": "every file of that commit embedded, empty caches",
    "test_embedding_the_next_commit": "the same for the next commit",
}


def main(root: Path) -> list[Path]:
    """Fills all slots of the documents below ``root`` and returns the documents that changed.

    Raises:
        InputError: a slot has a name that nothing fills, or its result file is missing.
    """
    changed = []
    for pattern in DOCUMENTS:
        for document in sorted(root.glob(pattern)):
            text = document.read_text(encoding="utf-8")
            filled = _SLOT.sub(lambda slot: slot[1] + "\n" + table(slot[2], root) + "\n" + slot[3], text)
            if filled != text:
                write_atomically(document, filled)
                changed.append(document)
    return changed


def table(name: str, root: Path) -> str:
    """The table of one slot."""
    if name not in TABLES:
        raise InputError(f"no table is called '{name}'; there are {', '.join(TABLES)}")
    file, make = TABLES[name]
    path = root / "eval" / "results" / file
    if not path.is_file():
        raise InputError(f"the result file {path.relative_to(root)} is missing; run its command first")
    return make(json.loads(path.read_text(encoding="utf-8")))


def _first_chunk(summary: Mapping[str, Any]) -> str:
    published = {row["what"]: row["published"] for row in summary["published"]}
    rows = [
        [page["function"], f"{100 * published['p1 of ' + page['function']]:.1f}",
         *(with_interval(rate) if depth == "p1" else percent(rate) for depth, rate in page["any"].items())]
        for page in summary["pages"]
        if page["budget"] == summary["budget"]
    ]  # fmt: skip
    return markdown_table(["value function", "published p1", "p1", "p@3", "p@5", "p@10"], rows)


def _locate(summary: Mapping[str, Any]) -> str:
    rows = [
        [f"{row['generator']}, {row['function']}", with_interval(row["any"]["1"]),
         *(percent(row["any"][depth]) for depth in ("5", "10", "50")),
         *(percent(row["any_on_page"][budget]) for budget in ("1000", "2000")),
         percent(row["all"]["10"])]
        for row in summary["rankings"]
        if row["generator"] in ("grep", "union", "wide") and row["function"] in _SHOWN
    ]  # fmt: skip
    headings = [
        "candidates, value function",
        "first",
        "@5",
        "@10",
        "@50",
        "page of 1,000",
        "of 2,000",
        "all @10",
    ]
    return markdown_table(headings, rows)


def _generators(summary: Mapping[str, Any]) -> str:
    first = summary["generators"][0]["generator"]
    rows = [
        [row["generator"], f"{row['candidates']['mean']:.1f}", with_interval(row["any"]),
         with_interval(row["all"]), with_interval(row["missed"]) if row["missed"] else "–"]
        for row in summary["generators"]
    ]  # fmt: skip
    headings = [
        "generator",
        "mean candidates",
        "any gold file",
        "all gold files",
        f"any, where {first} has none",
    ]
    return markdown_table(headings, rows)


def _comparisons(summary: Mapping[str, Any]) -> str:
    rows = [
        [f"{row['function']} against {row['against']}", *paired(row)[1:]]
        for row in summary["comparisons"]
        if row["generator"] == "wide" and row["against"] in _SHOWN
    ]
    return markdown_table(["ranked first, in points", *PAIRED[1:]], rows)


def _ablation(summary: Mapping[str, Any]) -> str:
    """Each row without a group of columns; the comparison is that of all against it."""
    against = {row["against"]: paired(row)[1:5] for row in summary["comparisons"]}
    rows = [
        [_label(row["function"]), *(percent(row["any"][depth]) for depth in ("1", "5", "10", "50")),
         f"{100 * row['macro_p1']:.1f}", *against.get(row["function"], [""] * 4)]
        for row in summary["rankings"]
    ]  # fmt: skip
    headings = ["value function", "first", "@5", "@10", "@50", "first, mean of repositories"]
    return markdown_table([*headings, *PAIRED[1:5]], rows)


def _label(function: str) -> str:
    """Which group a training of `train.fusion.ablate` did without; else the name."""
    found = _WITHOUT.fullmatch(function)
    return f"without {found[1].replace('_', ' ')}" if found else function


def _speed(report: Mapping[str, Any]) -> str:
    medians = {row["name"]: row["stats"]["median"] for row in report["benchmarks"]}
    rows = [[what, f"{1000 * medians[name]:,.1f} ms"] for name, what in SPEED.items()]
    return markdown_table(["what", "median"], rows)


def _pace(result: Mapping[str, Any]) -> str:
    slowest = result["medians"]["predict per request"]["pairs_per_second"]
    rows = [
        [name, f"{row['pairs_per_second']:.1f}", f"{row['pairs_per_second'] / slowest:.2f}",
         f"{row['p50_ms']:,.0f} ms", f"{row['p99_ms']:,.0f} ms"]
        for name, row in result["medians"].items()
    ]  # fmt: skip
    return markdown_table(["service", "pairs a second", "ratio", "p50", "p99"], rows)


def _load(result: Mapping[str, Any]) -> str:
    rows = []
    for name in ("overload", "soak"):
        row = result[name]
        answers = ", ".join(f"{count:,} × {status}" for status, count in row["statuses"].items())
        rows.append([name, f"{row['requests']:,}", answers, str(row["faults"])])
    return markdown_table(["load", "requests", "answers", "lost, mixed up or wrong"], rows)


def _precision(result: Mapping[str, Any]) -> str:
    rows = [
        [name, f"{row['to_fp32']:.2f}", f"{row['farthest_from_fp32']:g}",
         percent(row["pairs_of_documents_in_another_order"]), f"{row['farthest_from_itself_alone']:g}"]
        for name, row in result["precisions"].items()
    ]  # fmt: skip
    headings = ["numbers", "pace", "farthest from fp32", "pairs in another order, %", "moved by its batch"]
    return markdown_table(headings, rows)


TABLES: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "first_chunk": ("first_chunk/summary.json", _first_chunk),
    "locate": ("locate_verified/summary.json", _locate),
    "generators": ("locate_verified/summary.json", _generators),
    "comparisons": ("locate_verified/summary.json", _comparisons),
    "ablation": ("learned_ablation/summary.json", _ablation),
    "speed": ("speed.json", _speed),
    "pace": ("service/pace.json", _pace),
    "load": ("service/load.json", _load),
    "precision": ("service/precision.json", _precision),
}

if __name__ == "__main__":
    try:
        for path in main(Path.cwd()):
            print(f"filled {path.name}")
    except InputError as error:
        sys.exit(f"figures: {error}")
