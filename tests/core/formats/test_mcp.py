import json
from typing import Any

import pytest
from firstpage.core.errors import InputError
from firstpage.core.formats import encode, parse
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"
NOTE_BLOCK = {"type": "text", "text": NOTE}
ISSUES = [{"path": f"ä{number}.py", "title": f'a "quoted" <b>\t{number}'} for number in range(4)]
HITS = "".join(f"src/ä{number}.py:{number + 1}:x < y && z\n" for number in range(4))


def text_block(text: str, **more: object) -> dict[str, object]:
    return {"type": "text", "text": text, **more}


def result(*blocks: dict[str, object], **more: object) -> dict[str, object]:
    return {"_meta": {"k": 1}, "content": list(blocks), **more}


def go(value: object) -> str:
    """JSON as Go's encoder writes it."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


RESULTS = {
    "hits": result(text_block(HITS, annotations={"priority": 1}), isError=False),
    "JSON": result(text_block(json.dumps(ISSUES, indent=2))),
    "nested JSON": result(text_block(json.dumps({"total": 4, "items": ISSUES}, ensure_ascii=False))),
    "JSON twice": result(
        text_block(json.dumps({"d": {"items": ISSUES}})), structuredContent={"d": {"items": ISSUES}}
    ),
    "JSON in result": result(text_block(json.dumps(ISSUES)), structuredContent={"result": ISSUES}),
    "text twice": result(text_block(HITS), structuredContent={"result": HITS}),
    "other structure": result(text_block(HITS), structuredContent={"count": 4}),
    "blocks": result(*(text_block(json.dumps(issue)) for issue in ISSUES)),
    "blocks twice": result(
        *(text_block(json.dumps(i)) for i in ISSUES), structuredContent={"result": ISSUES}
    ),
    "strings twice": result(
        *(text_block(f"s{n}") for n in range(4)), structuredContent={"result": ["s0", "s1", "s2", "s3"]}
    ),
    "image": result(text_block(HITS), {"type": "image", "data": "aGk=" * 50, "mimeType": "image/png"}),
    "intro": result(text_block("Found 4:"), text_block(HITS)),
    "links": result(*({"type": "resource_link", "uri": f"file:///{n}", "name": "x"} for n in range(4))),
}
WRITERS = {
    "python": json.dumps,
    "plain": lambda value: json.dumps(value, ensure_ascii=False, indent=1),
    "go": go,
}


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("kind", RESULTS)
def test_pages_of_any_items_are_valid_results(kind: str, writer: str, wrapped: bool, check_page) -> None:
    value = RESULTS[kind]
    whole = {"jsonrpc": "2.0", "id": 7, "result": value} if wrapped else value
    text = WRITERS[writer](whole) + "\n"
    answer = parse(text)
    assert answer.form == "mcp"
    assert len(answer.items) == 4
    assert answer.render(answer.items) == text
    for places in ([], [2], [3, 1], [0, 1, 2, 3]):
        for note in ("", NOTE):
            if len(places) > 1 or kind not in {"blocks", "blocks twice", "strings twice", "intro"}:
                page = check_page(text, "mcp", places, note)
            else:
                page = answer.render([answer.items[place] for place in places], note)
            shown = json.loads(page)["result"] if wrapped else json.loads(page)
            assert set(shown) == set(value)
            assert (shown["content"][-1:] == [NOTE_BLOCK]) == bool(note)


@pytest.mark.parametrize(
    "kind", ["JSON twice", "JSON in result", "text twice", "blocks twice", "strings twice"]
)
def test_structured_content_is_reduced_with_the_text(kind: str) -> None:
    answer = parse(json.dumps(RESULTS[kind]))
    shown = json.loads(answer.render([answer.items[2], answer.items[0]], NOTE))
    structured = shown["structuredContent"]
    texts = [block["text"] for block in shown["content"][:-1]]
    expected = {
        "JSON twice": lambda: json.loads(texts[0]),
        "JSON in result": lambda: {"result": json.loads(texts[0])},
        "text twice": lambda: {"result": texts[0]},
        "blocks twice": lambda: {"result": [json.loads(text) for text in texts]},
        "strings twice": lambda: {"result": texts},
    }[kind]()
    assert structured == expected
    assert len(json.dumps(structured)) < len(json.dumps(RESULTS[kind]["structuredContent"]))


@pytest.mark.parametrize(
    "value",
    [
        result(text_block(HITS), structuredContent={"result": ISSUES}),
        result(text_block(json.dumps(ISSUES)), structuredContent={"result": ISSUES[:3]}),
        result(text_block("a"), text_block("b"), structuredContent={"result": ["a", "c"]}),
        result(text_block("a"), text_block("b"), structuredContent={"result": [1, 2]}),
        result(
            text_block("a"),
            {"type": "image", "data": ""},
            text_block("b"),
            structuredContent={"result": [1, 2, 3]},
        ),
        result(text_block("a"), text_block("b"), structuredContent={"result": ["a"]}),
    ],
)
def test_structured_content_that_says_another_thing_is_kept(value: dict[str, object]) -> None:
    answer = parse(json.dumps(value))
    assert answer.items
    assert json.loads(answer.render([]))["structuredContent"] == value["structuredContent"]


@pytest.mark.parametrize("text", ["a\\ud83d.py\\n\\nb", "ä\\u00e4\\n\\n\\/", "ä\\ud83d\\n\\nb"])
def test_text_escaped_in_another_way_means_the_same(text: str) -> None:
    written = f'{{"content": [{{"type": "text", "text": "{text}"}}]}}'
    answer = parse(written)
    assert len(answer.items) == 2
    page = answer.render(answer.items)
    assert json.loads(page) == json.loads(written)
    encode(page)


@pytest.mark.parametrize(
    ("blocks", "items"),
    [
        ([text_block("a.py\nb.py\n"), text_block("x")], ["a.py", "b.py"]),
        ([text_block("a.py\nb.py\n"), text_block("x" * 99)], None),
        ([text_block("only one paragraph"), text_block("x")], None),
        ([text_block("a.py\nb.py\n"), {"type": "image", "data": "x" * 99}], ["a.py", "b.py"]),
        ([{"type": "image", "data": "x"}, {"type": "audio", "data": "y"}], None),
    ],
)
def test_items_are_those_of_the_main_text_or_the_blocks(blocks, items) -> None:
    found = [item.text for item in parse(json.dumps(result(*blocks))).items]
    assert found == (items or [json.dumps(block) for block in blocks])


def test_the_note_is_a_block_on_the_same_line() -> None:
    answer = parse(json.dumps(RESULTS["hits"]))
    page = answer.render(answer.items[:1], NOTE)
    assert "\n" not in page
    assert json.loads(page)["content"] == [
        {"type": "text", "text": HITS.split("\n")[0] + "\n", "annotations": {"priority": 1}},
        NOTE_BLOCK,
    ]


def test_parts_of_an_item_are_rendered_in_the_result() -> None:
    answer = parse(json.dumps(result(text_block("a/b.py:1:x\na/b.py:2:y\nc.py:3:z\n"))))
    parts = answer.split(answer.items[0])
    assert [part.id for part in parts] == ["1.1", "1.2"]
    assert json.loads(answer.render([parts[1]]))["content"][0]["text"] == "a/b.py:2:y\n"


def test_the_array_is_looked_for_in_the_text() -> None:
    text = json.dumps(result(text_block(json.dumps({"a": [1, 2, 3], "b": [{"c": 1}]}))))
    assert len(parse(text).items) == 1
    assert len(parse(text, array="a").items) == 3
    with pytest.raises(InputError, match="no 'c' at ''"):
        parse(text, array="c")
    with pytest.raises(InputError, match="no JSON value"):
        parse("no JSON", array="c")


@pytest.mark.parametrize(
    "value",
    [
        result(),
        result(text_block("")),
        result(text_block("{}")),
        result(structuredContent={"a": 1}),
    ],
)
def test_a_result_without_items_stays_whole(value: dict[str, object]) -> None:
    text = json.dumps(value)
    answer = parse(text)
    assert (answer.form, answer.items, answer.header) == ("mcp", [], text)
    assert json.loads(answer.render([], NOTE))["content"] == [*value["content"], NOTE_BLOCK]
    assert parse(answer.render([], NOTE)).header == text


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"content": "x"},
        {"content": [{"type": "odd"}]},
        {"content": [1]},
        {"result": 3},
        {"result": {}},
    ],
)
def test_other_json_is_an_input_error(value: object) -> None:
    with pytest.raises(InputError, match="no result of an MCP tool"):
        parse(json.dumps(value), "mcp")


# Without NUL, for a last one that is missing is added to names.
@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60),
    st.sampled_from(sorted(WRITERS)),
)
def test_any_text_survives(text: str, writer: str) -> None:
    written = WRITERS[writer](result(text_block(text)))
    answer = parse(written, "mcp")
    assert json.loads(answer.render(answer.items)) == json.loads(written)


def shown_of(text: str, *places: int) -> dict[str, Any]:
    """What a page with these items says."""
    answer = parse(text)
    items = [answer.items[place] for place in places]
    page = answer.render(items, NOTE)
    assert len(page) <= len(answer.render([], NOTE)) + sum(map(len, map(answer.piece, items)))
    return json.loads(page)


MANY = [{"path": f"m{number}.py", "title": "x" * 30} for number in range(20)]


@pytest.mark.parametrize("blocks", [[], [text_block("Found 20 issues")], [text_block("Found\n\n20 issues")]])
def test_structured_content_gives_the_items_where_there_is_no_more_than_a_short_text(blocks) -> None:
    text = json.dumps(result(*blocks, structuredContent={"n": 20, "issues": MANY}))
    answer = parse(text)
    assert [item.path for item in answer.items] == [issue["path"] for issue in MANY]
    assert answer.render(answer.items) == text
    shown = shown_of(text, 3, 1)
    assert shown["structuredContent"] == {"n": 20, "issues": [MANY[3], MANY[1]]}
    assert shown["content"] == [*blocks, NOTE_BLOCK]
    assert len(parse(text, array="issues").items) == 20


def test_a_summary_is_kept_beside_json_that_structured_content_repeats() -> None:
    summary = text_block("Found 20 issues")
    value = result(summary, text_block(json.dumps(MANY)), structuredContent={"issues": MANY})
    shown = shown_of(json.dumps(value), 3, 1)
    assert shown["content"][0] == summary
    assert json.loads(shown["content"][1]["text"]) == [MANY[3], MANY[1]]
    assert shown["structuredContent"] == {"issues": [MANY[3], MANY[1]]}


def test_structured_content_that_says_another_thing_than_a_long_text_gives_items_too() -> None:
    value = result(text_block("a.py\nb.py\n" + "c.py\n" * 99), structuredContent={"issues": MANY})
    text = json.dumps(value)
    answer = parse(text)
    assert len(answer.items) == 121
    assert [item.id for item in answer.items] == [str(place) for place in range(1, 122)]
    assert answer.render(answer.items) == text
    shown = shown_of(text, 102, 1, 0)
    assert shown["content"] == [text_block("b.py\na.py\n"), NOTE_BLOCK]
    assert shown["structuredContent"] == {"issues": [MANY[1]]}


def test_an_error_stays_one_and_its_text_gives_the_items(check_page) -> None:
    value = result(text_block("Failed.\n\nBecause of this.\n"), isError=True)
    shown = json.loads(check_page(json.dumps(value), "mcp", [1], NOTE))
    assert (shown["isError"], shown["content"][0]["text"]) == (True, "Because of this.\n")


@pytest.mark.parametrize("first", [False, True])
def test_a_long_block_beside_a_text_is_an_item(first: bool) -> None:
    image = {"type": "image", "data": "aGk=" * 200, "mimeType": "image/png"}
    blocks = [image, text_block(HITS)] if first else [text_block(HITS), image]
    text = json.dumps(result(*blocks))
    answer = parse(text)
    assert len(answer.items) == 5
    assert answer.render(answer.items) == text
    place = 0 if first else 4
    page = answer.render([item for at, item in enumerate(answer.items) if at != place], NOTE)
    assert json.loads(page)["content"] == [text_block(HITS), NOTE_BLOCK]
    one = answer.render([answer.items[place]], NOTE)
    assert image in json.loads(one)["content"]
    assert len(one) <= len(answer.render([], NOTE)) + len(answer.piece(answer.items[place]))


def test_another_long_text_gives_its_items_too() -> None:
    names = "".join(f"src/m{number}.py\n" for number in range(99))
    answer = parse(json.dumps(result(text_block(names), text_block(names[:600]), text_block("Done."))))
    assert [item.path for item in answer.items] == names.split("\n")[:-1] + names[:600].split("\n")
    page = json.loads(answer.render([answer.items[-2], answer.items[0]]))
    assert [block["text"] for block in page["content"]] == ["src/m0.py\n", answer.items[-2].text, "Done."]


def test_the_text_of_an_embedded_resource_gives_the_items() -> None:
    block = {"type": "resource", "resource": {"uri": "file:///x", "text": HITS, "mimeType": "text/plain"}}
    answer = parse(json.dumps(result(block)))
    assert len(answer.items) == 4
    shown = json.loads(answer.render(answer.items[2:3]))["content"][0]
    assert shown["resource"] == block["resource"] | {"text": HITS.split("\n")[2] + "\n"}
    assert len(parse(json.dumps(result(*[block] * 3))).items) == 3


def test_parts_of_a_later_source_are_counted_on() -> None:
    other = {"type": "audio", "data": "x" * 500}
    answer = parse(json.dumps(result(other, text_block("a/b.py:1:x\na/b.py:2:y\nc.py:3:z\n"))))
    parts = answer.split(answer.items[1])
    assert [part.id for part in parts] == ["2.1", "2.2"]
    assert json.loads(answer.render([parts[1]]))["content"] == [text_block("a/b.py:2:y\n")]
