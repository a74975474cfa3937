"""Which value function to use, and how sure that is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..readers import DEFAULT
from .display import with_interval
from .localisation import Cell
from .summary import compare, gather
from .tables import probability

SIGNIFICANT = 0.05
PAGE = 2000  # tokens of the page that a headline speaks of, or as near to them as was measured

FEW = 20  # tasks, below which a tie says nothing

_Kind = Literal["nothing", "failed", "alone", "equal", "lead", "tie", "few"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the measured tasks say about the value functions.

    Args:
        kind: ``nothing`` if no gold file is a candidate of any task, ``failed`` if no function could rank
            one, ``alone`` for a single function, ``equal`` if all rank and page alike, ``lead`` if the best
            is significantly ahead of the next, else ``tie``, or ``few`` where there are too few tasks for a
            tie to mean anything.
        generator: whose candidates are spoken of: those that hold a gold file most often.
        budget: tokens of the page that is spoken of.
        functions: from the best to the worst.
        p1: how often the best ranks a gold file first, as `eval.summary.rate` makes it.
        page: how often it has one on the page.
        pairs: the best against each of the others, in their order, as in ``comparisons`` of a summary.
    """

    kind: _Kind
    generator: str
    budget: int
    functions: Sequence[str]
    p1: dict[str, Any]
    page: dict[str, Any]
    pairs: Sequence[Mapping[str, Any]]

    @property
    def function(self) -> str:
        """The best one."""
        return self.functions[0]

    @property
    def next(self) -> str:
        """The second best, if there are two."""
        return self.functions[1]

    @property
    def lead(self) -> Mapping[str, Any]:
        """The best against the second best, if there are two."""
        return self.pairs[0]

    @property
    def tied(self) -> list[str]:
        """Functions that these tasks do not tell apart from the best."""
        return [pair["against"] for pair in self.pairs if not significant(pair)]


def significant(pair: Mapping[str, Any]) -> bool:
    """Whether two value functions differ by more than chance makes in one of twenty comparisons.

    Args:
        pair: as `eval.summary.compare` makes it.
    """
    return bool(pair["p"] < SIGNIFICANT)


def headline_budget(budgets: Iterable[int]) -> int:
    """The budget that is nearest to 2,000 tokens, of two the smaller.

    Example:
        >>> headline_budget([500, 1500, 2500, 4000])
        1500
    """
    return min(budgets, key=lambda budget: (abs(budget - PAGE), budget))


def headline_generator(found: Sequence[Mapping[str, Any]]) -> str:
    """The generator that finds a gold file most often, of equals the last: commands name the union last.

    Args:
        found: ``generators`` of `eval.summary.summarise`.
    """
    best = max(reversed(found), key=lambda row: float(row["any"]["rate"]))
    return str(best["generator"])


def by_merit(rows: Iterable[Mapping[str, Any]], budget: int) -> list[str]:
    """Value functions from the best to the worst; of equals the one listed first.

    They are ranked by p1, then by inclusion on the page, then by p@5 and p@10.

    Args:
        rows: ``rankings`` of `eval.summary.summarise` for one generator.
        budget: tokens of the page.
    """

    def merit(row: Mapping[str, Any]) -> tuple[float, ...]:
        any_gold, on_page = row["any"], row["any_on_page"][str(budget)]
        return any_gold["1"]["rate"], on_page["rate"], any_gold["5"]["rate"], any_gold["10"]["rate"]

    return list(dict.fromkeys(row["function"] for row in sorted(rows, key=merit, reverse=True)))


def verdict(summary: Mapping[str, Any], cells: Sequence[Cell]) -> Verdict:
    """The verdict that the report's headline and the terminal give in words.

    Args:
        summary: of `eval.summary.summarise`.
        cells: that it was made of.
    """
    generator = headline_generator(summary["generators"])
    rows = {row["function"]: row for row in summary["rankings"] if row["generator"] == generator}
    budget = headline_budget(map(int, summary["rankings"][0]["any_on_page"]))
    functions = by_merit(rows.values(), budget)
    best = rows[functions[0]]
    pairs = _pairs(summary, cells, generator, functions)
    kind: _Kind
    if not any(cell.found for cell in cells):
        kind = "nothing"
    elif not any(cell.ranks for cell in cells):
        kind = "failed"
    elif len(functions) == 1:
        kind = "alone"
    elif _equal(cells, generator):
        kind = "equal"
    elif significant(pairs[0]):
        kind = "lead"
    else:
        kind = "few" if summary["tasks"] < FEW else "tie"
    return Verdict(
        kind, generator, budget, functions, best["any"]["1"], best["any_on_page"][str(budget)], pairs
    )


def advice(summary: Mapping[str, Any], cells: Sequence[Cell]) -> str:
    """The recommendation in at most two sentences, for a terminal.

    Args:
        summary: of `eval.summary.summarise`.
        cells: that it was made of.
    """
    found = verdict(summary, cells)
    if found.kind == "nothing":
        return "No value function can be recommended: no gold file is among the candidates of any task."
    if found.kind == "failed":
        return "No value function can be recommended: each failed where a gold file is among the candidates."
    count = f"{summary['tasks']} task{'s' if summary['tasks'] != 1 else ''}"
    puts = (
        f"of {count}, with the candidates of {found.generator}, it puts a gold file first "
        f"in {with_interval(found.p1)} %, and one on a page of {found.budget:,} tokens in "
        f"{with_interval(found.page)} %."
    )
    if found.kind == "alone":
        return f"Only {found.function} was measured: {puts}"
    if found.kind == "equal":
        return f"Any of the {len(found.functions)} value functions will do, such as {found.function}: {puts}"
    if found.kind == "few":
        keep = f"; keep {DEFAULT}" if DEFAULT in found.functions else ""
        return f"{count} cannot tell value functions apart{keep}. The first here is {found.function}: {puts}"
    return f"Use {found.function}: {puts} {_lead(found)}"


def _lead(found: Verdict) -> str:
    lead = found.lead
    p = probability(lead["p"])
    tests = f"b = {lead['b']}, c = {lead['c']}, exact McNemar p {p if p.startswith('<') else f'= {p}'}"
    if found.kind == "lead":
        return f"It leads {found.next} by {100 * lead['difference']:.1f} points ({tests})."
    return f"These tasks do not tell it apart from {found.next} ({tests})."


def _pairs(
    summary: Mapping[str, Any], cells: Sequence[Cell], generator: str, functions: Sequence[str]
) -> list[Mapping[str, Any]]:
    """The best function against every other, from the summary where they are compared there."""
    ours, *others = functions
    known = {
        row["against"]: row
        for row in summary["comparisons"]
        if row["generator"] == generator and row["function"] == ours
    }
    if missing := [name for name in others if name not in known]:
        rankings = gather(cells)
        best = rankings[generator, ours]
        for name in missing:
            pair = compare(best.first <= 1, rankings[generator, name].first <= 1, best.repos)
            known[name] = {"generator": generator, "function": ours, "against": name, **pair}
    return [known[name] for name in others]


def _equal(cells: Sequence[Cell], generator: str) -> bool:
    """Whether all functions put the first gold file of each task on the same rank and the same pages."""
    outcomes = {
        (of.first.tobytes(), of.any_on_page.tobytes())
        for (name, _), of in gather(cells).items()
        if name == generator
    }
    return len(outcomes) == 1
