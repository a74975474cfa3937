import pytest
from firstpage.core.formats.note import NOTE, ItemNote, PageNote, Ways
from hypothesis import given
from hypothesis import strategies as st

numbers = st.integers(0, 10**9)
ids = st.from_regex(r"[1-9]\d{0,5}(\.[1-9]\d{0,3})?", fullmatch=True)
named = st.tuples(ids, numbers)
free = st.text(st.characters(codec="utf-8", exclude_characters="\r\n{}"))
ways = st.builds(lambda page, item, end: Ways(f"{page}{{}}{end}", f"{item}{{}}{end}"), free, free, free)
notes = st.builds(
    PageNote, numbers, numbers, numbers, numbers, numbers, st.lists(named, max_size=5)
) | st.builds(ItemNote, ids, st.none() | named)


@given(notes, ways)
def test_what_is_written_is_recognised(note: PageNote | ItemNote, ways: Ways) -> None:
    assert NOTE.fullmatch(note.text(ways))


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (PageNote(1, 1, 3, 3, 0), "page 1 of 1, 3 of 3 items shown, 0 left"),
        (PageNote(2, 9, 3, 50, 40), "page 2 of 9, 3 of 50 items shown, 40 left: --page 3"),
        (
            PageNote(1, 1, 2, 3, 0, [("2", 501)]),
            "page 1 of 1, 2 of 3 items shown, 0 left, 1 item is above the budget: --item 2 (501 tokens)",
        ),
        (
            PageNote(1, 2, 1, 4, 1, [("2", 501), ("4.1", 90)]),
            "page 1 of 2, 1 of 4 items shown, 1 left: --page 2, "
            "2 items are above the budget: --item 2 (501 tokens), then 4.1",
        ),
        (
            PageNote(1, 1, 0, 3, 0, [("2", 501), ("3", 90), ("1", 80)]),
            "page 1 of 1, 0 of 3 items shown, 0 left, "
            "3 items are above the budget: --item 2 (501 tokens), then 3, 1",
        ),
        (
            PageNote(1, 1, 0, 5, 0, [("2", 501), ("3", 90), ("1", 80), ("5", 70), ("4", 60)]),
            "page 1 of 1, 0 of 5 items shown, 0 left, "
            "5 items are above the budget: --item 2 (501 tokens), then 3, 1 and 2 more",
        ),
        (ItemNote("2", ("3", 90)), "item 2 alone, next above the budget: --item 3 (90 tokens)"),
        (ItemNote("3.1", None), "item 3.1 alone, the last above the budget"),
    ],
)
def test_tells_what_is_left_and_how_to_get_it(note: PageNote | ItemNote, text: str) -> None:
    assert note.text(Ways()) == f"[firstpage: {text}]"


@pytest.mark.parametrize(
    "line",
    [
        "[firstpage: x]",
        "[firstpage: page 1 of 2]",
        "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left] ",
        "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left]\n",
        "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left, and more]",
        "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page\n2]",
        "a [firstpage: page 1 of 2, 1 of 2 items shown, 1 left]",
        "[firstpage: item 3 alone]",
    ],
)
def test_what_is_not_written_so_is_no_note(line: str) -> None:
    assert not NOTE.fullmatch(line)
