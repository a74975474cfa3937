import pytest
from firstpage.core.formats import parse
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"
lines = st.text("ab.-|# \x0c\u2028é", min_size=1, max_size=6).filter(str.strip)
fence = st.lists(st.text("ab \n", max_size=6), max_size=3).map(lambda code: "\n".join(["```", *code, "```"]))
paragraphs = st.lists(lines | fence, min_size=1, max_size=3).map("\n".join)
blanks = st.lists(st.sampled_from(["\n", " \n"]), min_size=1, max_size=2).map("".join)


@given(st.lists(st.tuples(paragraphs, blanks), min_size=1, max_size=6), st.booleans(), st.data())
def test_pages_hold_the_chosen_paragraphs(check_page, parts, terminated, data) -> None:
    text = "".join(f"{paragraph}\n{blank}" for paragraph, blank in parts)
    text = text if terminated else text.rstrip()
    answer = parse(text, "paragraphs")
    assert answer.render(answer.items) == text
    assert [item.text for item in answer.items] == [paragraph for paragraph, _ in parts] or not terminated
    places = data.draw(st.permutations(range(len(answer.items))))[: data.draw(st.integers(0, len(parts)))]
    check_page(text, "paragraphs", places, data.draw(st.sampled_from(["", NOTE])))


def test_keeps_blank_lines_around_and_between() -> None:
    answer = parse("\n\na\nb\n\n\nc\n\n", "paragraphs")
    assert (answer.header, answer.footer) == ("\n\n", "\n")
    assert [item.text for item in answer.items] == ["a\nb", "c"]
    assert answer.render(answer.items[1:]) == "\n\nc\n\n"


def test_paragraphs_keep_the_order_of_the_text() -> None:
    answer = parse("a\n\nb\n\nc\n", "paragraphs")
    assert answer.render([answer.items[2], answer.items[0]]) == "a\n\nc\n"


def test_never_cuts_a_code_block() -> None:
    text = "Before:\n```py\na = 1\n\n\nb = 2\n```\nafter\n\nEnd.\n"
    answer = parse(text, "paragraphs")
    assert len(answer.items) == 2
    parts = answer.split(answer.items[0])
    assert [(part.id, part.text) for part in parts] == [
        ("1.1", "Before:"),
        ("1.2", "```py\na = 1\n\n\nb = 2\n```"),
        ("1.3", "after"),
    ]
    assert not answer.split(parts[1])
    assert not answer.split(answer.items[1])


def test_parts_of_a_paragraph_stay_together() -> None:
    answer = parse("a\nb\nc\n\nd\ne\n", "paragraphs")
    first, second = (answer.split(item) for item in answer.items)
    assert answer.render([first[0], first[2], second[1]]) == "a\nc\n\ne\n"


@pytest.mark.parametrize(
    ("text", "page"), [("a\n", f"a\n\n{NOTE}\n"), ("a", f"a\n\n{NOTE}"), ("", f"{NOTE}\n")]
)
def test_the_note_is_a_paragraph_of_its_own(text: str, page: str) -> None:
    answer = parse(text, "paragraphs")
    assert answer.render(answer.items, NOTE) == page
