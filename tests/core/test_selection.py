from itertools import combinations

import numpy as np
import pytest
from firstpage.core.errors import InputError
from firstpage.core.selection import EXACT_CELLS, select, select_exact, select_greedy
from hypothesis import given
from hypothesis import strategies as st

Problem = tuple[list[float], list[int], int]

VALUES = st.floats(0, 1e6, allow_subnormal=False)
SELECTORS = [select, select_exact, select_greedy]


@st.composite
def problems(draw: st.DrawFn, value: st.SearchStrategy[float] = VALUES) -> Problem:
    """Up to nine items, so that all choices can be tried."""
    items = draw(st.lists(st.tuples(value, st.integers(0, 12)), max_size=9))
    return [worth for worth, _ in items], [cost for _, cost in items], draw(st.integers(0, 40))


def choices(problem: Problem) -> list[tuple[int, ...]]:
    """All sets of items that have a value and fit the budget."""
    values, costs, budget = problem
    worth = [place for place, value in enumerate(values) if value > 0]
    sets = (chosen for size in range(len(worth) + 1) for chosen in combinations(worth, size))
    return [chosen for chosen in sets if sum(costs[place] for place in chosen) <= budget]


def total(problem: Problem, chosen: tuple[int, ...]) -> float:
    return float(sum(problem[0][place] for place in chosen))


def best_total(problem: Problem) -> float:
    return max(total(problem, chosen) for chosen in choices(problem))


@given(problems())
def test_exact_is_the_best_of_all_choices(problem: Problem) -> None:
    assert total(problem, tuple(select_exact(*problem))) == pytest.approx(best_total(problem), rel=1e-9)


@given(problems())
def test_greedy_is_worth_half_of_the_best(problem: Problem) -> None:
    assert total(problem, tuple(select_greedy(*problem))) >= best_total(problem) / 2 * (1 - 1e-9)


@pytest.mark.parametrize("selector", SELECTORS)
@given(problem=problems())
def test_a_choice_is_ascending_within_the_budget_and_takes_nothing_worthless(selector, problem) -> None:
    values, costs, budget = problem
    chosen = selector(values, costs, budget).tolist()
    assert chosen == sorted(set(chosen))
    assert sum(costs[place] for place in chosen) <= budget
    assert all(values[place] > 0 for place in chosen)


@given(problems(st.integers(0, 4).map(float)))
def test_of_equal_choices_exact_returns_the_one_that_does_without_later_items(problem: Problem) -> None:
    count = len(problem[0])
    best = [chosen for chosen in choices(problem) if total(problem, chosen) == best_total(problem)]
    earliest = min(best, key=lambda chosen: [place in chosen for place in reversed(range(count))])
    assert tuple(select_exact(*problem)) == earliest


def test_rounding_does_not_decide_between_equal_choices() -> None:
    assert 0.1 + 0.2 > 0.3
    assert select_exact([0.3, 0.1, 0.2], [2, 1, 1], 2).tolist() == [0]
    assert select_exact([0.1, 0.2, 0.3], [1, 1, 2], 2).tolist() == [0, 1]


@pytest.mark.parametrize("selector", SELECTORS)
def test_equal_items_are_taken_in_the_tools_order(selector) -> None:
    assert selector([1.0] * 1000, [10] * 1000, 55).tolist() == [0, 1, 2, 3, 4]


def test_greedy_gives_way_to_a_single_item_that_is_worth_more() -> None:
    values, costs = [2.0, 100.0], [1, 100]
    assert select_greedy(values, costs, 100).tolist() == [1]


def test_greedy_goes_on_behind_an_item_that_does_not_fit() -> None:
    assert select_greedy([9.0, 8.0, 1.0], [5, 5, 2], 7).tolist() == [0, 2]


@pytest.mark.parametrize("selector", SELECTORS)
def test_free_items_fit_any_budget(selector) -> None:
    assert selector([1.0, 0.0, 2.0], [0, 0, 1], 0).tolist() == [0]


@pytest.mark.parametrize("selector", SELECTORS)
def test_nothing_to_choose_from(selector) -> None:
    assert selector([], [], 100).tolist() == []
    assert selector([1.0], [2], 1).tolist() == []


@pytest.mark.parametrize("selector", SELECTORS)
def test_huge_and_tiny_values(selector) -> None:
    assert selector([1e308, 1e308, 1e308], [1, 1, 1], 2).tolist() == [0, 1]
    assert selector([1e-300, 2e-300], [1, 1], 1).tolist() == [1]


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize(
    ("values", "costs", "budget", "message"),
    [
        ([1.0], [1, 2], 5, r"values of shape \(1,\) need costs of the same shape, not \(2,\)"),
        ([[1.0]], [[1]], 5, "values of shape"),
        ([1.0], [-1], 5, "at least 0 tokens"),
        ([1.0], [1], -1, "at least 0 tokens"),
    ],
)
def test_bad_input_is_named(selector, values, costs, budget, message) -> None:
    with pytest.raises(InputError, match=message):
        selector(values, costs, budget)


def test_select_is_exact_where_that_is_quick_and_greedy_above() -> None:
    values, costs, budget = [6.0, 5.0, 5.0], [60, 50, 50], 100
    assert select(values, costs, budget).tolist() == [1, 2]
    many = EXACT_CELLS // budget
    values, costs = values + [0.0] * many, costs + [1] * many
    assert np.array_equal(select(values, costs, budget), select_greedy(values, costs, budget))
