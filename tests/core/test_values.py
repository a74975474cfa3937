from collections.abc import Sequence

import numpy as np
import pytest
from firstpage.core.errors import RunError
from firstpage.core.items import Item, Query
from firstpage.core.values import ValueFunction, evaluate, ranking
from numpy.typing import NDArray

ITEMS = [Item("a", "one"), Item("b", "two")]


class Given:
    """A value function that returns what it is told to."""

    name = "given"

    def __init__(self, values: object) -> None:
        self._values = values

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        return np.asarray(self._values)


def test_values_pass_as_floats() -> None:
    values = evaluate(Given([0, 3]), Query("q"), ITEMS)
    assert values.dtype == np.float64
    assert values.tolist() == [0, 3]


def test_no_items_are_no_question_to_the_function() -> None:
    assert evaluate(Given([1, 2, 3]), Query("q"), []).shape == (0,)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, -0.5])
def test_a_value_outside_the_contract_names_function_and_item(wrong: float) -> None:
    with pytest.raises(RunError, match=r"'given' gave the value .* to the item 'b'"):
        evaluate(Given([1, wrong]), Query("q"), ITEMS)


@pytest.mark.parametrize("wrong", [[1], [1, 2, 3], [[1], [2]], 1.0])
def test_a_wrong_shape_names_the_function(wrong: object) -> None:
    with pytest.raises(RunError, match="'given' returned values of shape"):
        evaluate(Given(wrong), Query("q"), ITEMS)


def test_ranking_keeps_the_native_order_of_equal_values() -> None:
    assert ranking(np.zeros(1000)).tolist() == list(range(1000))
    assert ranking(np.array([1.0, 5.0, 1.0, 5.0])).tolist() == [1, 3, 0, 2]


def test_the_contract_is_a_protocol() -> None:
    assert isinstance(Given([]), ValueFunction)
    assert not isinstance(object(), ValueFunction)


class Raising:
    name = "raising"

    def values(self, query, items):
        return 1 / 0


def test_a_function_that_fails_is_named():
    with pytest.raises(RunError, match="the value function 'raising' failed: ZeroDivisionError"):
        evaluate(Raising(), Query("x"), [Item("1", "a")])
