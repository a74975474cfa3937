import re

import numpy as np
import pytest
from firstpage.core.costs import CharacterCounter, RowCounter, token_counter
from firstpage.core.errors import InputError, RunError
from firstpage.core.formats import parse
from firstpage.core.items import Query
from firstpage.core.pages import Ways, paginate
from hypothesis import given, settings
from hypothesis import strategies as st

QUERY = Query("where is the cache cleared")


class Given:
    """A value function whose values are written down."""

    name = "given"

    def __init__(self, values=None):
        self._values = values

    def values(self, query, items):
        return np.arange(len(items), 0, -1.0) if self._values is None else np.array(self._values, dtype=float)


def pages_of(text, budget, values=None, counter=None, form="paths"):
    return paginate(parse(text, form), QUERY, Given(values), budget, counter or CharacterCounter())


def last_line(page):
    return page.text.rstrip("\n").split("\n")[-1]


def test_the_best_items_come_first_and_the_last_line_tells_what_is_left():
    pages = pages_of("a.py\nb.py\nc.py\n", 40, [1.0, 3.0, 2.0])
    (page,) = pages.pages
    assert page.text.split("\n")[:3] == ["b.py", "c.py", "a.py"]
    assert last_line(page) == "[firstpage: page 1 of 1, 3 of 3 items shown, 0 left]"


def test_page_two_delivers_the_rest():
    text = "".join(f"src/package/module_{n:03}.py\n" for n in range(40))
    pages = pages_of(text, 120)
    first, second = pages.page(1), pages.page(2)
    assert "page 1 of" in last_line(first)
    assert last_line(first).endswith("left: --page 2]")
    assert not set(first.text.split("\n")[:-2]) & set(second.text.split("\n")[:-2])


def test_the_way_to_the_rest_is_the_callers():
    answer = parse("".join(f"module_{n}.py\n" for n in range(60)), "paths")
    pages = paginate(answer, QUERY, Given(), 100, CharacterCounter(), Ways(page="call more(page={})"))
    assert "left: call more(page=2)]" in last_line(pages.page(1))


def test_items_of_no_value_fill_the_page_in_the_tools_order():
    pages = pages_of("a.py\nb.py\nc.py\nd.py\n", 60, [0, 0, 1, 0])
    assert [item.text for item in pages.page(1).items] == ["c.py", "a.py", "b.py", "d.py"]


def test_a_thousand_equal_items_keep_their_order_and_come_once_each():
    pages = pages_of("same.py\n" * 1000, 200, [1.0] * 1000)
    shown = [item.id for page in pages.pages for item in page.items]
    assert shown == [str(number) for number in range(1, 1001)]


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.text(alphabet="abc/._-é漢", min_size=1, max_size=60), max_size=40),
    values=st.lists(st.one_of(st.just(0.0), st.floats(0, 10)), min_size=40, max_size=40),
    budget=st.integers(0, 400),
    counter=st.sampled_from([CharacterCounter(), RowCounter()]),
)
def test_no_page_exceeds_the_budget_and_every_item_stands_on_one_page_or_is_named(
    rows, values, budget, counter
):
    text = "".join(f"{row}\n" for row in rows)
    answer = parse(text, "paths")
    count = len(answer.items)
    try:
        pages = paginate(answer, QUERY, Given(values[:count]), budget, counter)
    except InputError as error:
        needed = int(re.search(r"give at least (\d+)", str(error))[1])
        assert needed > budget
        paginate(answer, QUERY, Given(values[:count]), needed, counter)
        return
    for page in pages.pages:
        assert counter.count(page.text) == page.tokens <= budget
    shown = [item.id for page in pages.pages for item in page.items]
    assert sorted([*shown, *(item.id for item in pages.oversized)]) == sorted(
        item.id for item in answer.items
    )
    if pages.oversized:
        assert all(f"--item {pages.oversized[0].id} " in last_line(page) for page in pages.pages)


@pytest.mark.parametrize("form", ["paths", "paragraphs"])
def test_a_real_tokenizer_bounds_the_rendered_page(form, tokenizer_file):
    counter = token_counter(f"hf:{tokenizer_file}")
    text = "".join(f"src/Ünï/módulo_{n * 7919}.py\n\n" for n in range(300))
    pages = pages_of(text.replace("\n\n", "\n") if form == "paths" else text, 300, counter=counter, form=form)
    assert len(pages.pages) > 2
    assert all(counter.count(page.text) <= 300 for page in pages.pages)


class Superadditive:
    """A counter that takes more for a whole than for its parts, as a tokenizer may at a seam."""

    name = "superadditive"

    def count(self, text):
        return len(text) // 4 + 2 * max(0, text.count("\n") - 1)


def test_a_counter_that_takes_more_for_the_whole_is_obeyed_too():
    pages = pages_of("".join(f"module_{n}.py\n" for n in range(50)), 100, counter=Superadditive())
    assert all(Superadditive().count(page.text) <= 100 for page in pages.pages)
    assert sum(len(page.items) for page in pages.pages) == 50


def test_an_item_above_the_budget_is_on_no_page_and_named_on_each():
    big = "x" * 2000
    pages = pages_of(f"a.py\n{big}\nb.py\n", 60, [1, 5, 1])
    assert [item.text for page in pages.pages for item in page.items] == ["a.py", "b.py"]
    assert "1 item is above the budget: --item 2 (501 tokens)" in last_line(pages.page(1))
    assert pages.item("2").text == big


def test_an_item_above_the_budget_is_split_where_its_form_allows():
    hits = "".join(f"big.py:{n}:some line with text {n}\n" for n in range(100))
    pages = pages_of(hits + "small.py:1:x\n", 120, form="hits")
    assert not pages.oversized
    assert sum(page.text.count("big.py:") for page in pages.pages) == 100


def test_an_empty_answer_is_a_page_without_items():
    pages = pages_of("", 40)
    assert last_line(pages.page(1)) == "[firstpage: page 1 of 1, 0 of 0 items shown, 0 left]"


def test_a_budget_below_the_last_line_is_refused_with_what_is_needed():
    with pytest.raises(InputError, match=r"the budget of 3 tokens is below the \d+ .* give at least \d+"):
        pages_of("a.py\n", 3)


def test_a_page_that_is_not_there_is_refused():
    pages = pages_of("a.py\n", 60)
    with pytest.raises(InputError, match="there is no page 2; the answer has 1 page"):
        pages.page(2)
    with pytest.raises(InputError, match="no item '7'"):
        pages.item("7")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_a_value_that_breaks_the_contract_names_function_and_item(value):
    with pytest.raises(RunError, match=r"'given' gave the value .* to the item '2'"):
        pages_of("a.py\nb.py\n", 60, [1.0, value])
