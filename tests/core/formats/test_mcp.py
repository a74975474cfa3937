import json

import pytest
from firstpage.core.errors import InputError
from firstpage.core.formats import encode, parse
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2]"
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
    "image": result(text_block(HITS), {"type": "image", "data": "aGk=" * 200, "mimeType": "image/png"}),
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
        result(text_block(HITS), isError=True),
        result(),
        result(text_block("")),
        result(text_block('{"a": 1}')),
    ],
)
def test_an_error_or_a_result_without_items_stays_whole(value: dict[str, object]) -> None:
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


@given(st.text(max_size=60), st.sampled_from(sorted(WRITERS)))
def test_any_text_survives(text: str, writer: str) -> None:
    written = WRITERS[writer](result(text_block(text)))
    answer = parse(written, "mcp")
    assert json.loads(answer.render(answer.items)) == json.loads(written)
