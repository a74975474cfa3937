import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from firstpage.eval.advice import advice, by_merit, headline_budget, headline_generator, verdict
from firstpage.eval.localisation import Cell, Plan
from firstpage.eval.summary import summarise

Ranks = Mapping[str, Sequence[int | None]]  # of the gold file in each task, by value function


def measured(
    by_generator: Mapping[str, Ranks], budgets: Sequence[int] = (1000, 2000, 4000), reference: str = "hybrid"
) -> tuple[dict[str, Any], list[Cell]]:
    """A page holds a row for each 100 tokens of its budget."""
    cells = [
        Cell(f"task-{n}", "owner/repo", generator, name, 900, 60, 1, int(rank is not None),
             () if rank is None else (rank,),
             tuple(int(rank is not None and rank <= budget // 100) for budget in budgets), 0.002, "src/a.py")
        for generator, ranks in by_generator.items()
        for name, of in ranks.items()
        for n, rank in enumerate(of)
    ]  # fmt: skip
    plan = Plan(list(by_generator), list(next(iter(by_generator.values()))), budgets, (".py",))
    return summarise(cells, plan, reference), cells


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        pytest.param(
            {"fifo": [15] * 20, "bm25": [3] * 20, "hybrid": [1] * 15 + [30] * 5},
            "Use hybrid: of 20 tasks, with the candidates of union, it puts a gold file first in "
            "75.0 (53.1–88.8) %, and one on a page of 2,000 tokens in 75.0 (53.1–88.8) %. "
            "It leads bm25 by 75.0 points (b = 15, c = 0, exact McNemar p < 0.001).",
            id="significant lead",
        ),
        pytest.param(
            {"bm25": [1] * 9 + [2] * 11, "hybrid": [2] * 10 + [1] * 10},
            "Use hybrid: of 20 tasks, with the candidates of union, it puts a gold file first in "
            "50.0 (29.9–70.1) %, and one on a page of 2,000 tokens in 100.0 (83.9–100.0) %. "
            "These tasks do not tell it apart from bm25 (b = 10, c = 9, exact McNemar p = 1.000).",
            id="tie",
        ),
        pytest.param(
            {"mine": [1, None]},
            "Only mine was measured: of 2 tasks, with the candidates of union, it puts a gold file first in "
            "50.0 (9.5–90.5) %, and one on a page of 2,000 tokens in 50.0 (9.5–90.5) %.",
            id="one function",
        ),
        pytest.param(
            {"fifo": [1, 2, 60], "bm25": [1, 2, 60], "hybrid": [1, 2, 60]},
            "Any of the 3 value functions will do, such as fifo: of 3 tasks, with the candidates of union, "
            "it puts a gold file first in 33.3 (6.1–79.2) %, and one on a page of 2,000 tokens in "
            "66.7 (20.8–93.9) %.",
            id="all equal",
        ),
        pytest.param(
            {"fifo": [3], "fused": [1]},
            "1 task cannot tell value functions apart; keep fused. The first here is fused: "
            "of 1 task, with the candidates of union, it puts a gold file first in 100.0 (20.7–100.0) %, "
            "and one on a page of 2,000 tokens in 100.0 (20.7–100.0) %.",
            id="too few tasks",
        ),
        pytest.param(
            {"fifo": [None, None], "hybrid": [None, None]},
            "No value function can be recommended: no gold file is among the candidates of any task.",
            id="nothing found",
        ),
    ],
)
def test_advice_says_what_to_use_and_how_sure_that_is(ranks: Ranks, said: str) -> None:
    assert advice(*measured({"union": ranks})) == said


def test_a_function_that_was_not_measured_is_not_named() -> None:
    said = advice(*measured({"union": {"fifo": [3], "bm25": [1]}}))
    assert said.startswith("1 task cannot tell value functions apart. The first here is bm25: of 1 task,")


def test_functions_that_all_failed_are_not_recommended() -> None:
    ranks = {"fifo": [None], "bm25": [None]}
    _, cells = measured({"union": ranks})
    cells = [replace(cell, found=1, error="out of memory") for cell in cells]
    summary = summarise(cells, Plan(["union"], list(ranks), (1000, 2000, 4000), (".py",)), "fifo")
    assert advice(summary, cells) == (
        "No value function can be recommended: each failed where a gold file is among the candidates."
    )


@pytest.mark.parametrize("reference", ["fifo", "hybrid", "none of them"])
def test_verdict_compares_the_best_whatever_the_reference(reference: str) -> None:
    ranks = {"fifo": [9] * 20, "hybrid": [1] * 2 + [2] * 18, "mine": [1] * 20}
    found = verdict(*measured({"union": ranks}, reference=reference))
    assert found.functions == ["mine", "hybrid", "fifo"]
    assert [(pair["function"], pair["against"]) for pair in found.pairs] == [
        ("mine", "hybrid"), ("mine", "fifo"),
    ]  # fmt: skip
    assert found.kind == "lead"
    assert not found.tied


@pytest.mark.parametrize(
    ("mine", "yours"),
    [
        pytest.param([1, None, None], [2, 2, 2], id="p1 before all"),
        pytest.param([1, 20, None], [1, 21, None], id="then the page"),
        pytest.param([1, 5, 30], [1, 6, 30], id="then p@5"),
        pytest.param([1, 10, 30], [1, 11, 30], id="then p@10"),
    ],
)
def test_merit(mine: Sequence[int | None], yours: Sequence[int | None]) -> None:
    summary, _ = measured({"union": {"mine": mine, "yours": yours}})
    assert by_merit(summary["rankings"], 2000) == ["mine", "yours"]
    assert by_merit(reversed(summary["rankings"]), 2000) == ["mine", "yours"]


def test_equals_stay_as_listed() -> None:
    summary, _ = measured({"union": {"yours": [1, 14, 30], "mine": [1, 13, 30]}})
    assert by_merit(summary["rankings"], 2000) == ["yours", "mine"]


def test_merit_on_another_page() -> None:
    summary, _ = measured({"union": {"mine": [1, 4, 4, 30], "yours": [1, 15, 15, 15]}})
    assert by_merit(summary["rankings"], 1000) == ["mine", "yours"]
    assert by_merit(summary["rankings"], 2000) == ["yours", "mine"]


@pytest.mark.parametrize(
    ("budgets", "headline"),
    [((1000, 2000, 4000), 2000), ((500,), 500), ((2500, 1500), 1500), ((8000, 1000, 4000), 1000)],
)
def test_budget_of_the_headline(budgets: Sequence[int], headline: int) -> None:
    assert headline_budget(budgets) == headline


@pytest.mark.parametrize(
    ("grep", "union", "headline"),
    [([1, None], [2, 9], "union"), ([1, 9], [2, None], "grep"), ([1, None], [9, None], "union")],
)
def test_generator_of_the_headline(
    grep: Sequence[int | None], union: Sequence[int | None], headline: str
) -> None:
    summary, _ = measured({"grep": {"fifo": grep}, "union": {"fifo": union}})
    assert headline_generator(summary["generators"]) == headline


@pytest.mark.parametrize("budgets", [(1000, 2000, 4000), (500, 1500, 2500)])
def test_terminal_and_report_say_the_same(tmp_path: Path, budgets: Sequence[int]) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    from firstpage.eval.report import write_report

    grep = {"fifo": [2, 1, 7, 3] * 5, "bm25": [1, 1, 2, 18] * 5, "mine": [1, 1, 12, 3] * 5}
    union = {"fifo": [1, 2, 3, None] * 5, "bm25": [2, 1, 2, None] * 5, "mine": [3, 3, 3, None] * 5}
    summary, cells = measured({"grep": grep, "union": union}, budgets)
    write_report(tmp_path / "report.html", "here", summary, cells, [], {})
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    said = advice(summary, cells)
    for pattern, shown in (
        (r"^Use (\w+)", r"<h1>Use <b>(\w+)</b>"),
        (r"apart from (\w+)", r"; with (\w+) it is a tie"),
        (r"candidates of (\w+)", r"· candidates of (\w+), a gold file"),
        (r"a page of ([\d,]+) tokens", r"<h1>.*a page of ([\d,]+) tokens"),
    ):
        (ours,), (theirs,) = re.findall(pattern, said), re.findall(shown, html)
        assert ours == theirs
