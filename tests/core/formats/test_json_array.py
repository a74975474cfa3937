import json

import pytest
from firstpage.core.errors import InputError
from firstpage.core.formats import parse
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner)
)
objects = st.dictionaries(st.sampled_from(["path", "title", "ä", "x"]), values, max_size=3)
written = st.sampled_from(
    [
        {},
        {"indent": 2},
        {"indent": "\t", "ensure_ascii": False},
        {"separators": (",", ":")},
        {"separators": (" ,\r\n", " :\t")},
    ]
)


@given(st.lists(values, max_size=6) | st.lists(objects, max_size=6), written, st.booleans(), st.data())
def test_pages_of_an_array_hold_the_chosen_elements(check_page, array, style, line_end, data) -> None:
    text = json.dumps(array, **style) + "\n" * line_end
    answer = parse(text, "json", array="")
    assert answer.render(answer.items) == text
    places = data.draw(st.permutations(range(len(array))))[: data.draw(st.integers(0, len(array)))]
    note = data.draw(st.sampled_from(["", NOTE]))
    page = json.loads(check_page(text, "json", places, note, array=""))
    assert page[: len(places)] == [array[place] for place in places]
    assert len(page) == len(places) + bool(note)


@given(st.lists(objects, max_size=6), objects, written, st.data())
def test_pages_of_a_nested_array_keep_what_is_around_it(check_page, array, around, style, data) -> None:
    text = json.dumps({"before": around, "data": {"a/b": array, "more": 1}, "after": around}, **style)
    answer = parse(text, "json", array="/data/a~1b")
    assert answer.render(answer.items) == text
    places = data.draw(st.permutations(range(len(array))))[: data.draw(st.integers(0, len(array)))]
    note = data.draw(st.sampled_from(["", NOTE]))
    page = json.loads(check_page(text, "json", places, note, array="/data/a~1b"))
    expected = {"a/b": [array[place] for place in places], "more": 1}
    assert page == {"before": around, "data": expected, "after": around} | (
        {"firstpage": NOTE} if note else {}
    )


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ('[{"a": 1}, {"b": 2}]', '[{"b": 2},\n{"firstpage": "%s"}]'),
        ('[\n  {"a": 1},\n  {"b": 2}\n]\n', '[\n  {"b": 2},\n{"firstpage": "%s"}]\n'),
        ('["a", "b"]', '["b",\n"%s"]'),
        ('{"n": 2, "items": [1, 2]}', '{"n": 2, "items": [2],\n"firstpage": "%s"}'),
        ('{\n "items": [\n  1,\n  2\n ]\n}\n', '{\n "items": [\n  2\n ],\n"firstpage": "%s"}\n'),
    ],
)
def test_the_note_is_the_last_line_and_closes_the_json(text: str, page: str) -> None:
    answer = parse(text)
    assert answer.render(answer.items[1:], NOTE) == page % NOTE
    assert [item.text for item in parse(page % NOTE).items] == [answer.items[1].text]


@given(st.lists(st.sampled_from(["firstpage", "firstpage_2", "firstpage_3", "x"]), unique=True), values)
def test_the_note_takes_a_key_that_is_free(keys, value) -> None:
    around = {"items": [{"n": 1}, {"n": 2}]} | dict.fromkeys(keys, value)
    answer = parse(json.dumps(around), "json", array="/items")
    page = answer.render(answer.items, NOTE)
    *others, (key, note) = json.loads(page, object_pairs_hook=list)
    assert (len(others), note) == (len(around), NOTE)
    assert key not in around
    again = parse(page, "json", array="/items")
    assert len(again.items) == 2
    assert NOTE not in again.render(again.items)


@pytest.mark.parametrize("key", ["firstpage_2", "firstpage_1", "note"])
def test_a_note_under_a_key_that_is_not_its_own_is_kept(key: str) -> None:
    text = json.dumps({"items": [1, 2], key: NOTE})
    answer = parse(text)
    assert answer.render(answer.items) == text


def test_elements_are_kept_as_they_were_written() -> None:
    text = '[1.50, 1e5 ,12345678901234567890, "\\u00e4\\/", {"b":1,  "a":2, "a":3}]'
    answer = parse(text)
    assert [item.text for item in answer.items] == [
        "1.50",
        "1e5",
        "12345678901234567890",
        '"\\u00e4\\/"',
        '{"b":1,  "a":2, "a":3}',
    ]


@pytest.mark.parametrize(
    ("value", "array", "count"),
    [
        ({"labels": ["a long list of words", "more"], "items": [{"a": 1}]}, None, 1),
        ({"few": [{"a": 1}], "data": {"search": {"nodes": [{"b": 2}, {"c": 3}]}}}, None, 2),
        ({"a": ["x"], "b": ["yy", "zz"]}, None, 2),
        ({"a": {"b": 1}}, None, 1),
        ({"a": 1, "b": {"c": 2}}, None, 2),
        ({"a": [], "b": {}}, None, 0),
        ({}, None, 0),
        ({"data": {"items": [1, 2, 3]}}, "data.items", 3),
        ({"data": {"items": [1, 2, 3]}}, "/data/items", 3),
        ({"a.b": {"~": [1]}}, "/a.b/~0", 1),
        ([[1, 2], [3]], "/0", 2),
        ([[1, 2], [3]], "", 2),
    ],
)
def test_finds_the_array(value: object, array: str | None, count: int) -> None:
    for form in ("auto", "json"):
        answer = parse(json.dumps(value), form, array=array)
        assert len(answer.items) == count
        note = json.loads(answer.render(answer.items, NOTE))
        assert (
            note == [*value, {"firstpage": NOTE}] if isinstance(value, list) else value | {"firstpage": NOTE}
        )


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ("data.itms", "no 'itms' at '/data', only 'items'"),
        ("/data/items/0", "no array at '/data/items/0'"),
        ("/data/items/9", "no '9' at '/data/items'"),
        ("data", "no array at '/data'"),
    ],
)
def test_an_array_that_is_not_there_is_an_input_error(array: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse('{"data": {"items": [1, 2]}}', array=array)


def test_finds_paths_under_the_keys_that_tools_use() -> None:
    text = '[{"path": "a"}, {"file": "b"}, {"filename": "c"}, {"file_path": "d"}, {"file": 1}, 2]'
    assert [item.path for item in parse(text).items] == ["a", "b", "c", "d", None, None]


def test_an_array_deeper_than_32_objects_is_not_looked_for() -> None:
    assert len(parse('{"a":' * 31 + "[1, 2]" + "}" * 31).items) == 2
    assert len(parse('{"a":' * 40 + "[1, 2]" + "}" * 40).items) == 1


def test_members_are_the_items_of_an_object_without_an_array(check_page) -> None:
    text = '{"src/a.py": {"n": 1},\n "b": {"path": "c.py"}, "d": 2}\n'
    answer = parse(text)
    assert [item.text for item in answer.items] == ['"src/a.py": {"n": 1}', '"b": {"path": "c.py"}', '"d": 2']
    assert [item.path for item in answer.items] == ["src/a.py", "c.py", None]
    assert answer.render(answer.items) == text
    page = check_page(text, "json", [2, 0], NOTE)
    assert json.loads(page) == {"d": 2, "src/a.py": {"n": 1}, "firstpage": NOTE}


def test_the_note_of_an_object_takes_a_key_that_no_member_has() -> None:
    answer = parse('{"firstpage": 1, "b": 2}')
    assert json.loads(answer.render(answer.items[1:], NOTE)) == {"b": 2, "firstpage_2": NOTE}


def test_members_are_the_items_where_the_array_is_the_smaller_part_of_much() -> None:
    by_path = {f"src/m{number}.py": {"hits": [{"line": number, "text": "x" * 99}]} for number in range(40)}
    assert [item.path for item in parse(json.dumps(by_path)).items] == list(by_path)
    inside = parse(json.dumps({"took": 3, "files": by_path}))
    assert [item.path for item in inside.items] == list(by_path)
    assert json.loads(inside.render([], NOTE)) == {"took": 3, "files": {}, "firstpage": NOTE}
