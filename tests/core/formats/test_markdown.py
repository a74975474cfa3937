import pytest
from firstpage.core.formats import parse
from firstpage.core.formats.markdown import parse_markdown
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"
ISSUES = """# Title

An introduction.

## Open

| id | title |
|----|:-----:|
| 1 | a \\| b |
| 2 | c |

## Steps

3. first
   goes on
4. second

   - nested
   - list

   ```sh
   - not an item | nor a row
   ```
5. third
lazily

The end.
"""

cells = st.text("ab\\|- `é", max_size=4).map(lambda text: f"| {text} | x |")
tables = st.lists(cells, min_size=1, max_size=3).map(lambda rows: ["| a | b |", "|---|---|", *rows])
words = st.text("abé.`", min_size=1, max_size=4).filter(lambda text: "```" not in text)
list_items = st.builds(
    lambda marker, first, rest: f"{marker} {first}" + "".join(f"\n    {line}" for line in rest),
    st.sampled_from(["-", "*", "+", "1.", "12)"]),
    words,
    st.lists(words | st.just("- nested") | st.just("```\n    | - code\n    ```"), max_size=2),
)
lists = st.builds(
    lambda items, gap: gap.join(items).split("\n"),
    st.lists(list_items, min_size=1, max_size=3),
    st.sampled_from(["\n", "\n\n"]),
)
documents = st.lists(st.tuples(words, tables | lists), min_size=1, max_size=3)


@given(documents, st.booleans(), st.sampled_from(["", "\nThe end.\n"]), st.data())
def test_pages_hold_the_chosen_rows_and_items(check_page, document, with_text, footer, data) -> None:
    sections = [
        (f"## {place} {title}\n\n" if with_text else "") + "\n".join(block) + "\n"
        for place, (title, block) in enumerate(document)
    ]
    text = "\n".join(sections) + footer
    answer = parse(text, "markdown")
    assert not with_text or answer.render(answer.items) == text
    count = len(answer.items)
    places = data.draw(st.permutations(range(count)))[: data.draw(st.integers(0, count))]
    check_page(text, "markdown", places, data.draw(st.sampled_from(["", NOTE])))


def test_finds_rows_and_list_items_under_the_text_above_them() -> None:
    answer = parse(ISSUES)
    assert answer.form == "markdown"
    assert answer.header == "# Title\n\nAn introduction.\n\n"
    assert answer.footer == "\nThe end.\n"
    assert [item.text.split("\n")[0] for item in answer.items] == [
        "| 1 | a \\| b |",
        "| 2 | c |",
        "3. first",
        "4. second",
        "5. third",
    ]
    assert answer.items[3].text.endswith("   - not an item | nor a row\n   ```")
    assert answer.items[4].text == "5. third\nlazily"
    assert answer.items[0].metadata["within"] == ("## Open\n", "| id | title |\n|----|:-----:|")
    assert answer.items[2].metadata["within"] == ("\n## Steps\n",)
    assert answer.render(answer.items) == ISSUES


def test_rows_stand_under_their_head_and_items_under_their_heading() -> None:
    answer = parse(ISSUES)
    _, two, three, _, five = answer.items
    assert answer.render([five, two, three], NOTE) == (
        "# Title\n\nAn introduction.\n\n"
        "\n## Steps\n\n3. first\n   goes on\n5. third\nlazily\n\n"
        "## Open\n\n| id | title |\n|----|:-----:|\n| 2 | c |\n"
        f"\nThe end.\n\n{NOTE}\n"
    )


CHANGES = """# Changes

## 2.0

All of it.

### Fixed

- a
- b

### Added

- c

## 1.0

Dropped: nothing.

## 0.9

### Fixed

- d
- e

See above:

* f
"""


def test_items_stand_in_all_sections_around_them() -> None:
    answer = parse(CHANGES)
    a, _, _, d, _, f = answer.items
    assert answer.header == "# Changes\n\n"
    assert d.metadata["within"] == ("\n## 1.0\n\nDropped: nothing.\n\n## 0.9\n", "### Fixed\n")
    assert answer.render(answer.items) == CHANGES
    assert answer.render([f, a, d]) == (
        "# Changes\n\n## 2.0\n\nAll of it.\n\n### Fixed\n\n- a\n"
        "\n## 1.0\n\nDropped: nothing.\n\n## 0.9\n\n### Fixed\n\n- d\n\nSee above:\n\n* f\n"
    )


def test_list_items_keep_their_order_and_rows_come_as_asked() -> None:
    answer = parse("| a |\n|---|\n| 1 |\n| 2 |\n\n- b\n- c\n")
    one, two, b, c = answer.items
    page = answer.render([c, two, b, one])
    assert page.index("| 2 |") < page.index("| 1 |")
    assert page.index("- b") < page.index("- c")


def test_a_single_list_has_all_text_before_it_as_header() -> None:
    answer = parse("# Title\n\nText:\n\n- a\n- b\n")
    assert answer.header == "# Title\n\nText:\n\n"
    assert "within" not in answer.items[0].metadata


def test_what_stands_under_no_text_comes_first() -> None:
    answer = parse("- a\n- b\n\n## More\n\n- c\n- d\n")
    a, _, c, _ = answer.items
    assert answer.render([c, a]) == "- a\n\n## More\n\n- c\n"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a | b\n--|--\n1 | 2\n3 | 4\nno row\n", 2),
        ("a \\| b\n--|--\n1 | 2\n", 0),
        ("```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n", 0),
        ("* * *\n- a\n---\n", 1),
        ("1. a\n   1. b\n2. c\n", 2),
        ("- a\n\n\n  b\n\n- c\n", 2),
        ("-\n- b\n", 2),
        ("-not a list\n", 0),
        ("- ```\n  - a\n  ```\n- b\n", 2),
        ("- a\r\n- b\r\n", 2),
        ("", 0),
    ],
)
def test_counts_what_markdown_counts(text: str, count: int) -> None:
    answer = parse_markdown(text)
    assert len(answer.items) == count
    assert answer.render(answer.items).replace("\n\n", "\n") == text.replace("\n\n", "\n")
