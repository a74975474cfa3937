"""The first-chunk paper's published aggregates beside ours, figure by figure."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import InputError

# Facts carried over, so that the comparison works on any machine.
_FACTS = Path(__file__).with_name("first_chunk_reference.json")

# Why some figures cannot be the same; everything else must be.
_RECENCY = "the paper's recency came from the times of its checkout and is a constant here"
_ORDER = (
    "a row or two on 500 pages; probably a list or two stood in another order, for the keyword functions, "
    "which hardly depend on it, agree"
)


def load_published(folder: str | Path | None = None) -> dict[str, Any]:
    """The published aggregates: ``p``, ``buckets``, ``tokens`` and ``ceiling``.

    Args:
        folder: with ``first_chunk_e1.csv``, ``first_chunk_e1_buckets.csv`` and ``first_chunk_e1_tokens.csv``;
            the copy that comes with firstpage if None.

    Raises:
        InputError: a file cannot be read or is not of that form.
    """
    facts: dict[str, Any] = json.loads(_FACTS.read_text(encoding="utf-8"))
    if folder is None:
        return facts
    buckets: dict[str, Any] = {}
    tokens: dict[str, dict[str, float]] = {}
    name = ""
    try:
        name = "first_chunk_e1.csv"
        p = {
            row["value_function"]: {depth: float(row[depth]) for depth in ("p1", "p3", "p5", "p10")}
            for row in _rows(Path(folder) / name)
        }
        name = "first_chunk_e1_buckets.csv"
        for row in _rows(Path(folder) / name):
            bucket = buckets.setdefault(row["bucket"], {"tasks": int(row["n_tasks"]), "p1": {}})
            bucket["p1"][row["value_function"]] = float(row["p1"])
        name = "first_chunk_e1_tokens.csv"
        for row in _rows(Path(folder) / name):
            by_budget = tokens.setdefault(row["value_function"], {})
            by_budget[row["budget_tokens"]] = float(row["mean_tokens_used"])
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"--reference cannot use '{Path(folder) / name}': {error}") from error
    return facts | {"p": p, "buckets": buckets, "tokens": tokens}


def against_published(summary: Mapping[str, Any], published: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line for each published value that was measured.

    Args:
        summary: of `first_chunk.summarise`.
        published: of `load_published`.

    Returns:
        ``what``, ``published``, ``ours``, ``verdict`` (``same`` or ``different``, at the published number of
        digits) and ``why``, which is empty for the same and for what has no known reason to differ.
    """
    lines = [_line("ceiling", published["ceiling"], summary["ceiling"]["rate"], 3)]
    lines += _p_lines(summary["pages"], published["p"])
    lines += _bucket_lines(summary["buckets"], published["buckets"])
    lines += _token_lines(summary["pages"], published["tokens"])
    return lines


def _p_lines(pages: Sequence[Mapping[str, Any]], published: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The paper gives one p@k for all its budgets; the same is a figure that agrees at every budget."""
    for function in dict.fromkeys(page["function"] for page in pages):
        at_budgets = [page["any"] for page in pages if page["function"] == function]
        for depth, value in published.get(function, {}).items():
            why = _RECENCY if function == "priority_all" else ""
            lines = [_line(f"{depth} of {function}", value, one[depth]["rate"], 3, why) for one in at_budgets]
            yield next((line for line in lines if line["verdict"] == "different"), lines[0])


def _bucket_lines(
    buckets: Sequence[Mapping[str, Any]], published: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    tasks = {row["bucket"]: row["tasks"] for row in buckets}
    for bucket, count in tasks.items():
        if bucket in published:
            yield _line(f"tasks of {bucket}", published[bucket]["tasks"], count, 0)
    for row in buckets:
        value = published.get(row["bucket"], {}).get("p1", {}).get(row["function"])
        if value is not None:
            why = _RECENCY if row["function"] == "priority_all" else ""
            yield _line(f"p1 of {row['function']} in {row['bucket']}", value, row["p1"]["rate"], 4, why)


def _token_lines(
    pages: Sequence[Mapping[str, Any]], published: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    for page in pages:
        function, budget = page["function"], page["budget"]
        value = published.get(function, {}).get(str(budget))
        if value is not None:
            why = _RECENCY if function == "priority_all" else _ORDER
            yield _line(f"mean tokens of {function} within {budget:,}", value, page["tokens"], 3, why)


def _line(what: str, published: float, ours: float, digits: int, why: str = "") -> dict[str, Any]:
    same = f"{published:.{digits}f}" == f"{ours:.{digits}f}"
    return {
        "what": what,
        "published": published,
        "ours": round(ours, digits + 1),
        "verdict": "same" if same else "different",
        "why": "" if same else why,
    }


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
