import numpy as np
import pytest
from firstpage.core.items import Item, Query
from firstpage.core.values import ValueFunction, evaluate, ranking
from firstpage.readers import value_functions
from firstpage.readers.order import Fifo, Random, Reversed

QUERY = Query("anything")


def items(count: int) -> list[Item]:
    return [Item(str(place), f"{place}.py") for place in range(count)]


@pytest.mark.parametrize("function", [Fifo(), Reversed(), Random()], ids=lambda function: function.name)
def test_registered_and_within_the_contract(function: ValueFunction) -> None:
    assert type(value_functions.create(function.name)) is type(function)
    for count in (0, 1, 2, 100):
        assert evaluate(function, QUERY, items(count)).shape == (count,)
        assert function.values(QUERY, items(count)).shape == (count,)


def test_fifo_is_the_tools_order() -> None:
    values = Fifo().values(QUERY, items(4))
    assert values.tolist() == [1, 0.75, 0.5, 0.25]
    assert ranking(values).tolist() == [0, 1, 2, 3]


def test_reversed_gives_nothing_for_the_first_item() -> None:
    assert Reversed().values(QUERY, items(5)).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert Reversed().values(QUERY, items(1)).tolist() == [0]


def test_random_draws_every_list_anew_from_one_seed() -> None:
    expected = np.random.default_rng(42).random(7)
    assert Random().values(QUERY, items(7)).tolist() == expected.tolist()
    assert Random().values(Query("other"), items(7)).tolist() == expected.tolist()
    assert Random(seed=7).values(QUERY, items(7)).tolist() != expected.tolist()
