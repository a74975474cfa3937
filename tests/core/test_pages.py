import json
import re

import numpy as np
import pytest
from firstpage.core.costs import CharacterCounter, RowCounter, token_counter
from firstpage.core.errors import InputError, RunError
from firstpage.core.formats import parse
from firstpage.core.items import Query
from firstpage.core.pages import Ways, first_page, paginate
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
    function = values if isinstance(values, Positions) else Given(values)
    return paginate(parse(text, form), QUERY, function, budget, counter or CharacterCounter())


def last_line(page):
    return page.text.rstrip("\n").split("\n")[-1]


def test_the_best_items_come_first_and_the_last_line_tells_what_is_left():
    pages = pages_of("a.py\nb.py\nc.py\n", 40, [1.0, 3.0, 2.0])
    (page,) = pages
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
    shown = [item.id for page in pages for item in page.items]
    assert shown == [str(number) for number in range(1, 1001)]


rows = st.lists(st.text(alphabet="abc/._-é漢", min_size=1, max_size=60), max_size=40)
lines = st.lists(st.lists(st.sampled_from(["a", "of some words", "- x", "é" * 30]), max_size=4), max_size=8)


@st.composite
def answers(draw):
    """Answers of every form whose items have parts, and of some whose items have none."""
    form = draw(
        st.sampled_from(["paths", "jsonl", "json", "hits", "headed", "paragraphs", "markdown", "diff"])
    )
    if form == "paths":
        return parse("".join(f"{row}\n" for row in draw(rows)), "paths")
    files = draw(lines)
    if form == "json":
        return parse(json.dumps({"n": 1, "items": files}, indent=draw(st.sampled_from([None, 1]))), form)
    written = {
        "jsonl": lambda n, texts: json.dumps({"n": n, "texts": texts}) + "\n",
        "hits": lambda n, texts: "".join(f"src/m{n}.py:{k}:{text}\n" for k, text in enumerate(texts, 1)),
        "headed": lambda n, texts: (
            f"src/m{n}.py\n" + "".join(f"{k}:{text}\n" for k, text in enumerate(texts, 1)) + "\n"
        ),
        "paragraphs": lambda n, texts: "".join(f"{text}\n" for text in texts) + "\n",
        "markdown": lambda n, texts: f"# Part {n}\n\n" + "".join(f"- {text}\n" for text in texts) + "\n",
        "diff": lambda n, texts: (
            f"diff --git a/m{n} b/m{n}\n--- a/m{n}\n+++ b/m{n}\n"
            + "".join(f"@@ -{9 * k} +{9 * k} @@\n-{text}\n+{text}\n" for k, text in enumerate(texts, 1))
        ),
    }[form]
    text = "".join(written(n, texts) for n, texts in enumerate(files))
    if draw(st.booleans()) and form != "json":
        text = json.dumps({"content": [{"type": "text", "text": text}]})
        return parse(text, "mcp")
    return parse(text, {"headed": "hits"}.get(form, form))


class Positions:
    """A value function that gives any number of items one of these values each."""

    name = "positions"

    def __init__(self, values):
        self._values = values

    def values(self, query, items):
        return np.resize(np.array(self._values, dtype=float), len(items))


@settings(max_examples=400, deadline=None)
@given(
    answer=answers(),
    values=st.lists(st.one_of(st.just(0.0), st.floats(0, 10)), min_size=1, max_size=40),
    budget=st.integers(0, 400),
    counter=st.sampled_from([CharacterCounter(), RowCounter()]),
)
def test_no_page_exceeds_the_budget_and_every_item_stands_on_one_page_or_is_reached(
    answer, values, budget, counter
):
    try:
        pages = paginate(answer, QUERY, Positions(values), budget, counter)
    except InputError as error:
        needed = int(re.search(r"give at least (\d+)", str(error))[1])
        assert needed > budget
        paginate(answer, QUERY, Positions(values), needed, counter)
        return
    for page in pages:
        assert counter.count(page.text) == page.tokens <= budget
    shown = [item.id for page in pages for item in page.items]
    oversized = [item.id for item in pages.oversized]
    parts = [part.id for item in answer.items for part in _delivered(answer, item, {*shown, *oversized})]
    assert sorted([*shown, *oversized]) == sorted(parts)
    assert _reached(pages) == oversized
    assert [page.left for page in pages] == [
        len(shown) - sum(len(earlier.items) for earlier in list(pages)[: place + 1])
        for place in range(len(pages))
    ]


def _delivered(answer, item, ids):
    return [item] if item.id in ids else answer.split(item)


def _reached(pages):
    """The ids of the items above the budget, as one gets them who follows the notes."""
    reached = []
    text = pages.page(len(pages)).text
    while found := re.search(r"above the budget: --item (\S+) ", text):
        reached.append(found[1])
        text = pages.item(found[1]).text.rpartition("[firstpage: ")[2]
    return reached


@pytest.mark.parametrize("form", ["paths", "paragraphs"])
def test_a_real_tokenizer_bounds_the_rendered_page(form, tokenizer_file):
    counter = token_counter(f"hf:{tokenizer_file}")
    text = "".join(f"src/Ünï/módulo_{n * 7919}.py\n\n" for n in range(300))
    pages = pages_of(text.replace("\n\n", "\n") if form == "paths" else text, 300, counter=counter, form=form)
    assert len(pages) > 2
    assert all(counter.count(page.text) <= 300 for page in pages)


class Superadditive:
    """A counter that takes more for a whole than for its parts, as a tokenizer may at a seam."""

    name = "superadditive"
    subadditive = False

    def __init__(self, seam=2):
        self._seam = seam

    def count(self, text):
        return len(text) // 4 + self._seam * max(0, text.count("\n") - 1)


def test_a_counter_that_takes_more_for_the_whole_is_obeyed_too():
    pages = pages_of("".join(f"module_{n}.py\n" for n in range(50)), 100, counter=Superadditive())
    assert all(Superadditive().count(page.text) <= 100 for page in pages)
    assert sum(len(page.items) for page in pages) == 50


def test_what_fits_no_more_on_pages_made_smaller_is_split_too():
    """Around 180 tokens a page holds a file of twelve hits by its piece, but not with the note below."""
    hits = "".join(f"src/m{n}.py:{k}:some words\n" for n in range(3) for k in range(12))
    counter = Superadditive(seam=9)
    for budget in range(100, 300):
        pages = pages_of(hits, budget, Positions([1]), counter, "hits")
        assert not pages.oversized
        assert all(page.tokens <= budget for page in pages)
        shown = [line for page in pages for line in page.text.split("\n")[:-2]]
        assert sorted(shown) == sorted(hits.split("\n")[:-1])


@given(seam=st.integers(0, 200), budget=st.integers(0, 200))
def test_however_much_a_counter_takes_for_the_whole_the_pages_fit_or_the_budget_is_refused(seam, budget):
    counter = Superadditive(seam)
    try:
        pages = pages_of("".join(f"m_{n}.py\n" for n in range(9)), budget, counter=counter)
    except InputError:
        return
    assert all(counter.count(page.text) <= budget for page in pages)
    assert len(pages.oversized) + sum(len(page.items) for page in pages) == 9


def test_an_item_above_the_budget_is_on_no_page_and_named_on_each():
    big = "x" * 2000
    pages = pages_of(f"a.py\n{big}\nb.py\n", 60, [1, 5, 1])
    assert [item.text for page in pages for item in page.items] == ["a.py", "b.py"]
    assert "1 item is above the budget: --item 2 (501 tokens)" in last_line(pages.page(1))
    alone = pages.item("2")
    assert alone.text == f"{big}\n[firstpage: item 2 alone, the last above the budget]\n"
    assert (alone.number, alone.left, alone.tokens) == (None, 0, CharacterCounter().count(alone.text))
    assert pages.item("3").text == "b.py\n"


def test_the_notes_lead_to_all_items_above_the_budget():
    text = "".join(f"{letter * 400}\n" for letter in "abcde") + "f.py\n"
    pages = pages_of(text, 60, [1, 5, 4, 3, 2, 1])
    assert last_line(pages.page(1)).endswith(
        "5 items are above the budget: --item 2 (101 tokens), then 3, 4 and 2 more]"
    )
    assert _reached(pages) == [item.id for item in pages.oversized] == ["2", "3", "4", "5", "1"]
    assert last_line(pages.item("4")) == (
        "[firstpage: item 4 alone, next above the budget: --item 5 (101 tokens)]"
    )


def test_what_next_to_no_value_fills_the_page_too():
    """The exact knapsack takes 1e-18 beside 1 for rounding."""
    assert first_page(np.array([1, 0.9, 1e-18]), np.array([5, 6, 5]), 10) == [0, 2]


@pytest.mark.parametrize("budget", [18, 19, 30, 33])
def test_a_budget_that_holds_the_whole_answer_is_enough(budget):
    """The two paths take 3 tokens at the most, and the last line that says that all are shown takes 14."""
    (page,) = pages_of("a.py\nb.py\n", budget)
    assert len(page.items) == 2


def test_room_to_name_items_above_the_budget_is_kept_only_where_there_are_any():
    text = "".join(f"m_{n}.py\n" for n in range(20))
    assert len(pages_of(text, 30).page(1).items) > 3
    with pytest.raises(InputError, match="give at least "):
        pages_of(text + "x" * 100, 30)


def test_an_item_above_the_budget_is_split_where_its_form_allows():
    hits = "".join(f"big.py:{n}:some line with text {n}\n" for n in range(100))
    pages = pages_of(hits + "small.py:1:x\n", 120, form="hits")
    assert not pages.oversized
    assert sum(page.text.count("big.py:") for page in pages) == 100


def test_an_empty_answer_is_a_page_without_items():
    pages = pages_of("", 40)
    assert last_line(pages.page(1)) == "[firstpage: page 1 of 1, 0 of 0 items shown, 0 left]"


def test_a_budget_below_the_last_line_is_refused_with_what_is_needed():
    with pytest.raises(InputError, match=r"the budget of 3 tokens is below the \d+ .* give at least \d+"):
        pages_of("a.py\n", 3)


def test_a_page_that_is_not_there_is_refused():
    pages = pages_of("a.py\n", 60)
    with pytest.raises(InputError, match=r"there is no page 2; the answer has 1 page$"):
        pages.page(2)
    with pytest.raises(InputError, match="no item '7'"):
        pages.item("7")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_a_value_that_breaks_the_contract_names_function_and_item(value):
    with pytest.raises(RunError, match=r"'given' gave the value .* to the item '2'"):
        pages_of("a.py\nb.py\n", 60, [1.0, value])


def test_the_many_hits_of_one_file_leave_room_for_the_best_of_others():
    many = "".join(f"many.py:{n}:cache {n}\n" for n in range(400))
    others = "".join(f"other_{n}.py:1:cache of another file\n" for n in range(5))
    answer = parse(many + others, "hits")
    page = paginate(answer, QUERY, EqualValues(), 200, CharacterCounter()).page(1)
    paths = [item.path for item in page.items]
    assert {f"other_{n}.py" for n in range(5)} < set(paths)
    assert "many.py" in paths


def test_a_file_that_would_take_much_of_the_page_is_split_into_hits_a_file_of_a_diff_is_not():
    hits = parse("".join(f"a.py:{n}:line\n" for n in range(30)) + "b.py:1:x\n" * 300, "hits")
    assert len(paginate(hits, QUERY, EqualValues(), 400, CharacterCounter()).page(1).items) > 2
    hunks = "".join(f"@@ -{n}0,1 +{n}0,1 @@\n-a\n+b\n" for n in range(1, 9))
    files = "".join(f"diff --git a/{n} b/{n}\n--- a/{n}\n+++ b/{n}\n{hunks}" for n in range(4))
    pages = paginate(parse(files, "diff"), QUERY, EqualValues(), 200, CharacterCounter())
    assert [item.id for page in pages for item in page.items] == ["1", "2", "3", "4"]


class EqualValues:
    name = "equal"

    def values(self, query, items):
        return np.ones(len(items))
