"""One self-contained HTML page that answers which value function to use, and shows why.

Whatever foreign text it shows passes through `eval.display.clean` and jinja2's escaping, and the page
forbids scripts and the network to itself.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..core.errors import MissingExtraError
from ..core.files import write_atomically
from .advice import Verdict, by_merit, significant, verdict
from .charts import charts, styles
from .display import breakable, clean, digits, interval, milliseconds, percent, signed
from .failures import DEEP, LANDING_NAMES, Failures
from .localisation import Cell
from .summary import misses
from .tables import probability
from .tasks import Task

LISTED = 50  # tasks of a list; the rest is counted
_TEMPLATES = Path(__file__).parent / "templates"


def write_report(
    path: Path,
    title: str,
    summary: Mapping[str, Any],
    cells: Sequence[Cell],
    tasks: Sequence[Task],
    provenance: Mapping[str, Any],
) -> None:
    """Writes the report of a localisation benchmark; the same input gives the same bytes.

    Args:
        path: of the HTML file; it appears whole or not at all.
        title: such as ``bench history, django/django``.
        summary: as `eval.summary.summarise` makes it.
        cells: that the summary was made of.
        tasks: that the cells were measured on.
        provenance: as `eval.provenance.provenance` makes it; any mapping will do.

    Raises:
        MissingExtraError: jinja2 or matplotlib is not installed.
        RunError: the file cannot be written.
    """
    try:
        import matplotlib as mpl  # noqa: F401 - missed now and not after the work
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("the report", "eval") from None
    templates = Environment(
        autoescape=True,
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        finalize=lambda value: clean(value) if type(value) is str else value,  # not Markup, which is ours
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown = digits(summary["tasks"])
    for name, numbers in (("percent", percent), ("interval", interval), ("signed", signed)):
        templates.filters[name] = partial(numbers, digits=shown)
    templates.filters |= {"breakable": breakable, "p": probability, "milliseconds": milliseconds}
    html = templates.get_template("report.html.j2").render(
        title=title,
        provenance={name: _flat(value) for name, value in provenance.items()},
        **_context(summary, cells, tasks),
    )
    write_atomically(path, html)


def _context(summary: Mapping[str, Any], cells: Sequence[Cell], tasks: Sequence[Task]) -> dict[str, Any]:
    """What the templates speak of."""
    found = verdict(summary, cells)
    rows: dict[str, dict[str, Mapping[str, Any]]] = {row["generator"]: {} for row in summary["generators"]}
    for row in summary["rankings"]:
        rows[row["generator"]][row["function"]] = row
    generators = list(rows)
    ranked = {generator: by_merit(of.values(), found.budget) for generator, of in rows.items()}
    looks = styles([row["function"] for row in summary["rankings"]])
    lost, failed = misses(summary)
    failures = Failures(cells, tasks)
    return {
        "summary": summary,
        "generators": generators,
        "main": found.generator,
        "ranked": ranked,
        "rows": {(generator, name): row for generator, of in rows.items() for name, row in of.items()},
        "budgets": sorted(map(int, summary["rankings"][0]["any_on_page"])),
        "budget": found.budget,
        "depths": sorted(map(int, summary["rankings"][0]["any"])),
        "styles": looks,
        "repos": len({cell.repo for cell in cells}),
        "verdict": found,
        "charts": charts(summary, ranked, found.function, looks),
        "best": {generator: _best(list(of.values())) for generator, of in rows.items()},
        "comparisons": _comparisons(summary, found),
        "landings": LANDING_NAMES,
        "matrices": {generator: failures.matrix(generator, ranked[generator]) for generator in generators},
        "buckets": sorted(
            {label for row in summary["generators"] for label in row["buckets"]}, key=_first_number
        ),
        "missed_tasks": failures.missed(found.generator, found.functions, generators),
        "listed": LISTED,
        "deep": DEEP,
        "unmeasured": failures.unmeasured(found.generator, found.function),
        "lost": len(lost),
        "failed": failed,
        "errors": failures.errors(),
    }


def _comparisons(summary: Mapping[str, Any], found: Verdict) -> dict[str, Any]:
    """All pairs, those of the recommended function first, and the scale of their intervals."""
    seen = {_both(pair) for pair in found.pairs}
    pairs = [*found.pairs, *(pair for pair in summary["comparisons"] if _both(pair) not in seen)]
    ends = [end for pair in pairs for key in ("by_task", "by_repository") for end in pair[key]]
    return {
        "pairs": [{**pair, "verdict": _side(pair)} for pair in pairs],
        "low": min([-0.02, *ends]),
        "high": max([0.02, *ends]),
    }


def _both(pair: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """Where and what is compared, in whichever order."""
    return pair["generator"], frozenset((pair["function"], pair["against"]))


def _side(pair: Mapping[str, Any]) -> str:
    if not significant(pair):
        return "tie"
    return "better" if pair["difference"] > 0 else "worse"


def _first_number(bucket: str) -> int:
    """Where a bucket such as ``6-20`` starts, to sort by."""
    return int(re.split(r"\D", bucket)[0])


def _best(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """The highest rate of each measure among the functions; none where all are equal."""
    best = {}
    for which in ("any", "all", "any_on_page", "all_on_page"):
        for key in rows[0][which]:
            rates = [row[which][key]["rate"] for row in rows]
            if min(rates) < max(rates):
                best[which, key] = max(rates)
    return best


def _flat(value: object) -> str:
    """A value of the provenance on one line."""
    if isinstance(value, Mapping):
        return " · ".join(f"{name} {_flat(inner)}" for name, inner in value.items())
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return str(value)
