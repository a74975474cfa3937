"""What a first page of a tool's result keeps to, whatever the result is."""

import gc
import json
import tracemalloc
from contextlib import suppress

import pytest
from firstpage.core.costs import CharacterCounter, RowCounter
from firstpage.core.errors import InputError
from firstpage.core.items import Query
from firstpage.readers import value_functions
from firstpage.serve.mcp.catalog import Catalog
from firstpage.serve.mcp.messages import dumps
from firstpage.serve.mcp.page_tool import PageTool
from firstpage.serve.mcp.paging import Further, first_page
from firstpage.serve.mcp.rules import Rule
from firstpage.serve.mcp.store import Store
from hypothesis import given, settings
from hypothesis import strategies as st

ID = "0123456789abcdef"
IMAGE = {"type": "image", "data": "A" * 20_000, "mimeType": "image/png"}
PATHS = "\n".join(f"src/module_{number}/file_{number}.py" for number in range(300))


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}


def made(
    result, budget=500, form="auto", fits=lambda _: True, found=lambda _: [], query="", links=True, by=None
):
    function = value_functions.create("hybrid" if query else "fifo")
    rule = Rule(budget, form, by or CharacterCounter(), function)
    return first_page(result, Query(query), rule, fits, Further(ID, "firstpage_page", links), found)


def all_of(first):
    """The result of each page, and of each item that is above the budget."""
    store = Store(60, 10**9)
    store.put(ID, first.pages, first.size)
    tool = PageTool(store, 1)
    rest = [tool.called({"id": ID, "page": number}) for number in range(2, len(first.pages) + 1)]
    return rest + [tool.called({"id": ID, "item": item.id}) for item in first.pages.oversized]


def said(result):
    return [block["text"] for block in result["content"] if block["type"] == "text"]


LINES = st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])), min_size=1)


@settings(max_examples=40)
@given(LINES, st.integers(120, 800), st.booleans())
def test_no_page_is_above_its_budget_and_every_line_is_on_one(lines, budget, is_structured):
    lines = [f"{number}:{line}" for number, line in enumerate(lines * 40)]
    whole = text("\n".join(lines))
    if is_structured:
        whole["structuredContent"] = {"content": "\n".join(lines)}
    first = made(whole, budget)
    if first is None:
        assert CharacterCounter().count(dumps(whole)) <= budget
        return
    assert CharacterCounter().count(dumps(first.result)) <= budget
    results = [first.result, *all_of(first)]
    for number in range(2, len(first.pages) + 1):
        assert first.pages.page(number).tokens <= budget
    shown = [line for result in results for line in said(result)[0].split("\n")]
    assert sorted(line for line in shown if line) == sorted(lines)
    if is_structured:
        assert all(result["structuredContent"]["content"] == said(result)[0] for result in results)


@settings(max_examples=40)
@given(LINES, st.sampled_from(["paths", "paragraphs", "auto"]), st.integers(150, 600))
def test_a_form_that_is_named_keeps_the_budget_too(lines, form, budget):
    whole = text("\n".join(lines * 60), structuredContent={"content": "\n".join(lines * 60)})
    with suppress(InputError):  # items above the budget make the last line longer than the smallest pages
        first = made(whole, budget, form)
        assert first is None or all(page.tokens <= budget for page in first.pages)


def test_a_result_within_the_budget_is_left_alone():
    assert made(text("src/cache.py")) is None


def test_the_page_holds_what_the_call_looks_for_and_tells_how_to_get_the_rest():
    first = made(text(PATHS), query="module_217")
    lines, note = said(first.result)
    assert "src/module_217/file_217.py" in lines.split("\n")
    assert note.startswith("[firstpage: page 1 of ")
    assert f"left: call firstpage_page(id='{ID}', page=2)]" in note
    assert first.result["content"][1] == {
        "type": "resource_link",
        "uri": f"firstpage://{ID}/page/2",
        "name": "page 2",
        "mimeType": "text/plain",
    }


def test_the_last_page_leads_nowhere():
    last = all_of(made(text(PATHS)))[-1]
    assert [block["type"] for block in last["content"]] == ["text", "text"]
    assert "0 left]" in said(last)[-1]


def test_a_client_of_an_older_protocol_gets_no_link():
    first = made(text(PATHS), links=False)
    assert {block["type"] for block in first.result["content"]} == {"text"}
    assert "firstpage_page(" in said(first.result)[-1]


def test_images_and_sounds_stay_and_cost_nothing():
    sound = {"type": "audio", "data": "B" * 9_000, "mimeType": "audio/wav"}
    whole = {"content": [IMAGE, {"type": "text", "text": PATHS}, sound]}
    first = made(whole)
    assert [block["type"] for block in first.result["content"]] == [
        "image", "text", "audio", "resource_link", "text",
    ]  # fmt: skip
    assert first.result["content"][0] == IMAGE
    assert first.result["content"][2] == sound
    assert made({"content": [IMAGE]}) is None
    assert not any(block == IMAGE for page in all_of(first) for block in page["content"])


def test_what_else_a_result_says_stays():
    whole = text(PATHS, isError=True, resultType="complete", _meta={"server": "s"})
    first = made(whole)
    assert {key: first.result[key] for key in ("isError", "resultType", "_meta")} == {
        "isError": True,
        "resultType": "complete",
        "_meta": {"server": "s"},
    }


def listed(schema):
    catalog = Catalog()
    catalog.learn([{"name": "tool", "outputSchema": schema}], anew=True)
    return catalog.fits("tool")


ROWS = {"items": [{"path": f"src/file_{number}.py", "size": number} for number in range(200)], "total": 200}
SCHEMA = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"type": "object", "required": ["path", "size"]}},
        "total": {"type": "integer"},
    },
    "required": ["items", "total"],
    "additionalProperties": False,
}


def test_structured_content_is_reduced_and_stays_valid():
    fits = listed(SCHEMA)
    first = made(text(json.dumps(ROWS), structuredContent=ROWS), fits=fits)
    shown = first.result["structuredContent"]
    assert fits(shown)
    assert 0 < len(shown["items"]) < 200
    assert json.loads(said(first.result)[0]) == shown
    rows = [row for page in [first.result, *all_of(first)] for row in page["structuredContent"]["items"]]
    assert sorted(row["size"] for row in rows) == list(range(200))


@pytest.mark.parametrize(
    "schema",
    [
        SCHEMA | {"properties": {"items": {"minItems": 200}}, "additionalProperties": True},
        {"type": 3},
        {"$ref": "https://example.org/elsewhere"},
        {"$ref": "#/$defs/none"},
        "no schema",
    ],
    ids=["all are asked for", "a schema that is none", "elsewhere", "nowhere", "text"],
)
def test_structured_content_that_cannot_be_reduced_stays_whole_beside_a_page_of_the_text(schema):
    first = made(text(json.dumps(ROWS), structuredContent=ROWS), fits=listed(schema))
    assert first.result["structuredContent"] == ROWS
    assert len(json.loads(said(first.result)[0])["items"]) < 200
    assert not any("structuredContent" in page for page in all_of(first))


def test_structured_content_of_a_tool_never_listed_stays_whole():
    first = made(text(json.dumps(ROWS), structuredContent=ROWS), fits=Catalog().fits("tool"))
    assert first.result["structuredContent"] == ROWS


def test_a_result_whose_length_is_structured_content_that_must_stay_is_left_alone():
    assert made(text("200 files", structuredContent=ROWS), fits=lambda _: False) is None


def test_structured_content_of_an_error_is_bound_to_no_schema():
    first = made(text(json.dumps(ROWS), structuredContent=ROWS, isError=True), fits=lambda _: False)
    assert len(first.result["structuredContent"]["items"]) < 200


def test_a_tree_whose_root_is_above_the_budget_is_shown_by_its_lines():
    tree = json.dumps([{"name": "src", "children": [{"name": f"file_{n}.py"} for n in range(300)]}], indent=1)
    first = made(text(tree, structuredContent={"content": tree}), query="file_217")
    assert "file_217.py" in said(first.result)[0]
    assert first.result["structuredContent"]["content"] == said(first.result)[0]


def test_one_line_that_no_page_holds_is_named_and_had_alone():
    whole = text("x" * 9_000)
    first = made(whole)
    assert "1 item is above the budget: call firstpage_page(id=" in said(first.result)[-1]
    assert first.result["content"][-2]["uri"] == f"firstpage://{ID}/item/1"
    assert said(all_of(first)[0])[0] == "x" * 9_000


def test_a_text_that_is_not_of_the_form_named_is_read_as_what_it_is():
    first = made(text(json.dumps(ROWS)), form="log")
    assert json.loads(said(first.result)[0])["total"] == 200


def test_half_surrogates_pass_through_pages():
    first = made(text("\n".join(f"{number} \ud800" for number in range(400))), form="paths")
    dumps(first.result).encode()
    assert "0 \ud800" in [
        line for page in [first.result, *all_of(first)] for line in said(page)[0].split("\n")
    ]


def test_another_counter_counts():
    first = made(text(PATHS), budget=330, by=RowCounter())
    assert RowCounter().count(dumps(first.result)) <= 330


def test_a_budget_below_the_last_line_is_an_error_that_names_it():
    with pytest.raises(InputError, match="the budget of 20 tokens is below"):
        made(text(PATHS), budget=20)


def test_files_are_added_within_the_same_budget_and_never_to_structured_content():
    whole = text(PATHS, structuredContent={"content": PATHS})
    first = made(whole, found=lambda texts: ["lib/missed.py"])
    kinds = [block["type"] for block in first.result["content"]]
    assert kinds == ["text", "text", "resource_link", "text"]
    assert said(first.result)[1].split("\n") == [
        "[firstpage: 1 file that the tool did not list, found by the query in the commit HEAD:]",
        "lib/missed.py",
    ]
    assert CharacterCounter().count(dumps(first.result)) <= 500
    assert "missed" not in first.result["structuredContent"]["content"]


def test_files_are_added_to_a_result_that_leaves_room_for_them():
    first = made(text("src/cache.py"), budget=60, found=lambda texts: ["lib/a.py", "lib/b.py", "l" * 400])
    assert first.pages is None
    assert said(first.result)[1].split("\n")[1:] == ["lib/a.py", "lib/b.py"]
    assert made(text("src/cache.py"), budget=20, found=lambda texts: ["lib/a.py"]) is None


def test_files_that_leave_no_room_for_a_page_are_left_out():
    first = made(text(PATHS), budget=130, found=lambda texts: ["l" * 400])
    assert len(said(first.result)) == 2


def test_no_files_are_added_to_an_error():
    assert made(text("no such folder", isError=True), found=lambda texts: ["lib/a.py"]) is None


@pytest.mark.parametrize(
    "body",
    ["\n".join(f"src/mod{n % 50}/file_{n}.py" for n in range(1500)), json.dumps(list(range(1500))),
     "\n\n".join(f"\N{GRINNING FACE}{n}" for n in range(1500)),
     "\n".join(f"src/file_{n // 9}.py:{n}: cache = reload(x)" for n in range(1500))],
    ids=["paths", "numbers", "wide characters", "hits"],
)  # fmt: skip
def test_the_memory_that_pages_take_is_no_more_than_what_they_count_for(body):
    whole = text(body)
    made(text(PATHS))  # what is loaded once
    gc.collect()
    tracemalloc.start()
    first = made(whole)
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken / 2 < first.size
    assert taken <= first.size
