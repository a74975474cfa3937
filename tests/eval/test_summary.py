import json
import math
from dataclasses import replace

import numpy as np
import pytest
from firstpage.eval.localisation import Cell, Plan
from firstpage.eval.measures import DEPTHS
from firstpage.eval.statistics import wilson
from firstpage.eval.summary import compare, gather, misses, rate, summarise

PLAN = Plan(["bm25", "grep"], ["hybrid", "fifo"], [1000, 2000], [".py"])


def cell(
    task: str,
    function: str,
    ranks: tuple[int, ...],
    on_page: tuple[int, int] = (0, 0),
    gold: int = 1,
    candidates: int = 4,
    generator: str = "grep",
    error: str = "",
) -> Cell:
    repo = {"a": "o/a", "b": "o/b"}[task[0]]
    return Cell(
        task, repo, generator, function, 9, candidates, gold, len(ranks), ranks, on_page, 0.5, "x.py", error
    )


# Three tasks of o/a and one of o/b, under grep; bm25 finds nothing at all.
GREP = [
    cell("a1", "hybrid", (1,), (1, 1), candidates=5),
    cell("a2", "hybrid", (1, 4), (1, 2), gold=2, candidates=6),
    cell("a3", "hybrid", (7,), (0, 1), gold=2, candidates=20),
    cell("b1", "hybrid", (), (0, 0), candidates=0, error="the repository has no commit"),
    cell("a1", "fifo", (2,), (1, 1), candidates=5),
    cell("a2", "fifo", (1, 3), (2, 2), gold=2, candidates=6),
    cell("a3", "fifo", (21,), (0, 0), gold=2, candidates=20),
    cell("b1", "fifo", (), (0, 0), candidates=0, error="the repository has no commit"),
]
NOTHING = [
    cell(task, function, (), gold=gold, candidates=candidates, generator="bm25")
    for task, gold, candidates in (("a1", 1, 0), ("a2", 2, 21), ("a3", 2, 400), ("b1", 1, 1))
    for function in ("hybrid", "fifo")
]


@pytest.fixture
def summary():
    return summarise([*NOTHING, *GREP][::-1], PLAN, "hybrid")


def ranking(summary, function: str, generator: str = "grep"):
    (row,) = (
        row for row in summary["rankings"] if (row["generator"], row["function"]) == (generator, function)
    )
    return row


def hits(rates) -> list[int]:
    return [share["hits"] for share in rates.values()]


def test_any_gold_among_the_first_k_counts_every_task(summary):
    row = ranking(summary, "hybrid")
    assert list(row["any"]) == [str(depth) for depth in DEPTHS] == ["1", "3", "5", "10", "20", "50", "100"]
    assert hits(row["any"]) == [2, 2, 2, 3, 3, 3, 3]
    assert row["any"]["1"]["rate"] == 0.5
    assert row["any"]["10"]["rate"] == 0.75
    assert hits(ranking(summary, "fifo")["any"]) == [1, 2, 2, 2, 2, 3, 3]


def test_all_gold_needs_every_gold_file(summary):
    # a3 lacks one of its two gold files, so that it never counts.
    assert hits(ranking(summary, "hybrid")["all"]) == [1, 1, 2, 2, 2, 2, 2]
    assert hits(ranking(summary, "fifo")["all"]) == [0, 2, 2, 2, 2, 2, 2]


def test_pages_count_any_and_all_gold_by_budget(summary):
    row = ranking(summary, "hybrid")
    assert list(row["any_on_page"]) == ["1000", "2000"]
    assert (hits(row["any_on_page"]), hits(row["all_on_page"])) == ([2, 3], [1, 2])
    row = ranking(summary, "fifo")
    assert (hits(row["any_on_page"]), hits(row["all_on_page"])) == ([2, 2], [2, 2])


def test_a_task_without_gold_is_no_hit_of_any_kind():
    cells = [cell("a1", "hybrid", (), gold=0), cell("a2", "hybrid", (1,), (1, 1))]
    row = ranking(summarise(cells, Plan(["grep"], ["hybrid"], [1, 2], []), "hybrid"), "hybrid")
    assert (hits(row["any"])[-1], hits(row["all"])[-1]) == (1, 1)
    assert (hits(row["any_on_page"]), hits(row["all_on_page"])) == ([1, 1], [1, 1])


def test_macro_p1_is_the_mean_over_repositories(summary):
    assert ranking(summary, "hybrid")["macro_p1"] == pytest.approx((2 / 3 + 0) / 2)
    assert ranking(summary, "fifo")["macro_p1"] == pytest.approx((1 / 3 + 0) / 2)


def test_what_each_generator_finds(summary):
    nothing, grep = summary["generators"]
    assert (grep["generator"], grep["any"]["hits"], grep["all"]["hits"]) == ("grep", 3, 2)
    assert grep["candidates"] == {"mean": 31 / 4, "median": 5.5}
    assert (nothing["generator"], nothing["any"]["hits"]) == ("bm25", 0)


@pytest.mark.parametrize("functions", [["broken", "hybrid"], ["hybrid", "broken"]])
def test_what_the_candidates_hold_does_not_depend_on_who_ranks_them(functions):
    cells = [cell("a1", "hybrid", (2,)), cell("a2", "hybrid", (1, 3), gold=2)]
    cells += [replace(one, function="broken", ranks=(), error="not finite") for one in cells]
    summary = summarise(cells, Plan(["grep"], functions, [1, 2], []), "hybrid")
    (grep,) = summary["generators"]
    assert (grep["any"]["hits"], grep["all"]["hits"], grep["buckets"]["1-5"]["hits"]) == (2, 2, 2)
    assert summary["errors"] == {"a1": {"broken": "not finite"}, "a2": {"broken": "not finite"}}
    assert misses(summary) == ([], {"broken": 2})
    assert hits(ranking(summary, "broken")["any"]) == [0] * 7


def test_buckets_by_number_of_candidates_leave_out_those_without_tasks(summary):
    nothing, grep = summary["generators"]
    assert {label: (of["tasks"], of["hits"]) for label, of in grep["buckets"].items()} == {
        "1-5": (1, 1),
        "6-20": (2, 2),
    }
    assert {label: of["tasks"] for label, of in nothing["buckets"].items()} == {"1-5": 1, "21+": 2}


def test_comparisons_pair_tasks_at_rank_one(summary):
    bm25, grep = summary["comparisons"]
    assert (grep["generator"], grep["function"], grep["against"]) == ("grep", "hybrid", "fifo")
    assert (grep["b"], grep["c"], grep["p"]) == (1, 0, 1.0)
    assert grep["difference"] == 0.25
    assert (bm25["b"], bm25["c"], bm25["difference"]) == (0, 0, 0.0)


def test_b_is_what_only_ours_solves_and_c_what_only_theirs():
    ours = np.array([1, 1, 1, 0, 1, 1, 0], dtype=bool)
    theirs = np.array([0, 0, 0, 1, 1, 0, 0], dtype=bool)
    lead = compare(ours, theirs, np.array(list("aaabbbb")))
    assert (lead["b"], lead["c"]) == (4, 1)
    assert lead["p"] == pytest.approx(2 * (1 + 5) / 2**5)
    assert lead["difference"] == pytest.approx(3 / 7)
    assert lead["by_task"][0] <= lead["difference"] <= lead["by_task"][1]
    # Only two repositories: (3 - 0)/3 and (1 - 1 + 0 + 0)/4 are the extremes.
    assert lead["by_repository"] == (pytest.approx(0.0), pytest.approx(1.0))


def test_no_comparisons_where_the_reference_is_not_measured(summary):
    assert summarise([*NOTHING, *GREP], PLAN, "bm25")["comparisons"] == []


def test_of_the_tasks_that_the_first_generator_misses_it_is_told_how_many_others_find(summary):
    told = {row["generator"]: row["missed"] for row in summary["generators"]}
    assert (told["bm25"]["hits"], told["grep"]["hits"], told["grep"]["rate"]) == (0, 3, 0.75)
    found = [cell(task, "hybrid", (1,), (1, 1)) for task in ("a1", "a2")]
    alone = summarise(found, Plan(["grep"], ["hybrid"], [1000, 2000], [".py"]), "hybrid")
    assert alone["generators"][0]["missed"] is None


def test_repositories_are_told_apart_by_the_last_generator(summary):
    assert summary["repositories"] == [
        {
            "repository": "o/a",
            "tasks": 3,
            "generator": "grep",
            "p1": {"hybrid": 2 / 3, "fifo": 1 / 3},
            "p@50": {"hybrid": 1.0, "fifo": 1.0},
        },
        {
            "repository": "o/b",
            "tasks": 1,
            "generator": "grep",
            "p1": {"hybrid": 0.0, "fifo": 0.0},
            "p@50": {"hybrid": 0.0, "fifo": 0.0},
        },
    ]


def test_errors_are_named_by_task_and_function(summary):
    why = "the repository has no commit"
    assert summary["errors"] == {"b1": {"hybrid": why, "fifo": why}}
    assert misses(summary) == (["b1"], {})


def test_rates_carry_wilson_intervals():
    share = rate(np.array([True, True, False, True]))
    assert (share["rate"], share["hits"]) == (0.75, 3)
    assert tuple(share["interval"]) == wilson(3, 4)


def test_tasks_stand_in_the_same_order_under_every_function():
    rankings = gather([*GREP][::-1])
    assert [list(of.repos) for of in rankings.values()] == [["o/a", "o/a", "o/a", "o/b"]] * 2
    assert rankings["grep", "hybrid"].first.tolist() == [1, 1, 7, math.inf]
    assert rankings["grep", "hybrid"].last.tolist() == [1, 4, math.inf, math.inf]


def test_a_summary_is_plain_json_without_infinities(summary):
    assert json.loads(json.dumps(summary, allow_nan=False))["tasks"] == 4
