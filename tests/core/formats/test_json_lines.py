import json

import pytest
from firstpage.core.errors import InputError
from firstpage.core.formats import parse
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"
objects = st.dictionaries(st.text(max_size=3), st.none() | st.floats() | st.text(max_size=5), max_size=3)


@given(
    st.lists(objects, min_size=1, max_size=6),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.data(),
)
def test_pages_hold_the_chosen_objects(check_page, rows, ascii_only, separator, terminated, data) -> None:
    lines = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    text = separator.join(lines) + separator * terminated
    answer = parse(text, "jsonl")
    assert [item.text for item in answer.items] == lines
    assert answer.render(answer.items) == text
    places = data.draw(st.permutations(range(len(lines))))[: data.draw(st.integers(0, len(lines)))]
    page = check_page(text, "jsonl", places, data.draw(st.sampled_from(["", NOTE])))
    assert all(isinstance(json.loads(line), dict) for line in page.split("\n") if line.strip())


def test_the_note_is_the_last_object() -> None:
    answer = parse('{"path": "a"}\n{"path": "b"}\n')
    assert answer.render(answer.items[1:], NOTE) == f'{{"path": "b"}}\n{{"firstpage": "{NOTE}"}}\n'
    assert [item.path for item in answer.items] == ["a", "b"]


@pytest.mark.parametrize("line", ["x", "[1]", "3", '{"a": '])
def test_a_line_that_is_no_object_is_an_input_error_with_its_number(line: str) -> None:
    with pytest.raises(InputError, match="line 2"):
        parse(f'{{"a": 1}}\n{line}\n', "jsonl")
