import math
import re

import numpy as np
import pytest
from firstpage.core.items import Item, Query
from firstpage.core.values import ValueFunction, evaluate, ranking
from firstpage.readers import value_functions
from firstpage.readers.keyword import PriorityAll, PriorityKw, PriorityKwPlus, overlap
from hypothesis import given
from hypothesis import strategies as st

FUNCTIONS = [PriorityKw(), PriorityKwPlus(), PriorityAll()]


def files(*paths: str) -> list[Item]:
    return [Item(str(place), path, metadata={"path": path}) for place, path in enumerate(paths)]


def by_definition(query: str, path: str) -> float:
    """The paper's formula, a set at a time."""
    ours = {part for part in re.split(r"[/_\-.]", path.lower()) if len(part) >= 3}
    theirs = {word for word in re.findall(r"[^\W_]+", query.lower()) if len(word) >= 3}
    return len(ours & theirs) / math.sqrt(len(ours) * len(theirs)) if ours and theirs else 0.0


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_registered_and_within_the_contract(function: ValueFunction) -> None:
    assert type(value_functions.create(function.name)) is type(function)
    for paths in ([], ["a"], [""], ["src/cache.py", "src/cache.py", "x\ny"]):
        evaluate(function, Query("the cache"), files(*paths))
        evaluate(function, Query(""), files(*paths))


@given(st.text("abc/_-.\nA1é ", max_size=40), st.lists(st.text("abc/_-.\nA1é", max_size=30), max_size=8))
def test_overlap_is_the_papers_formula(query: str, paths: list[str]) -> None:
    expected = [by_definition(query, path) for path in paths]
    assert overlap(Query(query), paths) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("query", "path", "value"),
    [
        ("The QuerySet cache", "django/cache/base.py", 1 / 3),
        ("cache CACHE cache", "cache.py", 1.0),
        ("ok is a py", "ok/is/a.py", 0.0),
        ("Überschrift", "docs/überschrift.md", math.sqrt(1 / 2)),
        ("cache_key", "my-cache/key.py", 1.0),
        ("cache", "src\\cache\\base.py", math.sqrt(1 / 3)),
    ],
)
def test_words_of_three_characters_in_any_case(query: str, path: str, value: float) -> None:
    assert PriorityKw().values(Query(query), files(path)) == pytest.approx([value])


def test_an_item_without_a_path_is_judged_by_its_text() -> None:
    items = [
        Item("1", "nothing here"),
        Item("2", "src/cache.py"),
        Item("3", "x", metadata={"path": "cache.py"}),
    ]
    assert (PriorityKw().values(Query("cache"), items) > 0).tolist() == [False, True, True]


def test_plus_keeps_the_tools_order_where_no_path_shares_a_word() -> None:
    items = files("a.py", "b.py", "c.py")
    assert PriorityKwPlus().values(Query("nothing"), items).tolist() == pytest.approx([1, 2 / 3, 1 / 3])


def test_plus_breaks_ties_by_order_and_never_turns_a_preference() -> None:
    items = files("other.py", "cache.py", "deep/cache.py", "cache.pyi")
    values = PriorityKwPlus().values(Query("cache"), items)
    plain = PriorityKw().values(Query("cache"), items)
    assert values - plain == pytest.approx(1e-6 * np.array([1, 2 / 3, 1 / 3, 0]))
    assert ranking(values).tolist() == ranking(plain).tolist()


def test_plus_for_an_item_that_stands_alone() -> None:
    assert PriorityKwPlus().values(Query("cache"), files("cache.py")).tolist() == pytest.approx([1 + 1e-6])


@pytest.mark.parametrize(
    ("path", "rest"),
    [
        ("top.py", 0.15 / 1 + 0.08 * 1.0),
        ("one/two/deep.pyx", 0.15 / 3 + 0.08 * 0.95),
        ("one/stub.pyi", 0.15 / 2 + 0.08 * 0.70),
        ("one\\stub.PYI", 0.15 / 2 + 0.08 * 0.70),
        ("one_two/three.py", 0.15 / 2 + 0.08 * 1.0),
        ("one/two_three.py", 0.15 / 2 + 0.08 * 1.0 + 0.03),
        ("README.md", 0.15 / 1 + 0.08 * 0.5),
    ],
)
def test_the_composite_adds_its_parts(path: str, rest: float) -> None:
    value = PriorityAll().values(Query("nothing in common"), files(path))
    assert value == pytest.approx([rest + 0.04])


def test_recency_comes_from_the_items() -> None:
    items = [Item("1", "a.py", metadata={"recency": 0.0}), Item("2", "a.py", metadata={"recency": 0.5})]
    values = PriorityAll().values(Query(""), items)
    assert values[1] - values[0] == pytest.approx(0.04 * 0.5)
