"""The small parts of the proxy: lines, ids, queries, the store of pages, the catalog of tools, the worker."""

import threading
import time

import anyio
import pytest
from firstpage.serve.mcp.catalog import PAGE_TOOL, Catalog
from firstpage.serve.mcp.lines import Lines
from firstpage.serve.mcp.messages import dumps, flaw_of, key_of, read
from firstpage.serve.mcp.queries import query_of
from firstpage.serve.mcp.remote import parameter_headers
from firstpage.serve.mcp.store import Store
from firstpage.serve.mcp.worker import Worker
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line and not line.endswith(b"\r"))),
       st.data())  # fmt: skip
def test_lines_come_out_as_they_went_in_however_they_are_cut(lines, data):
    stream = b"".join(line + b"\n" for line in lines)
    cutter, came = Lines(longest=100), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        came += cutter.feed(stream[:size])
        stream = stream[size:]
    assert [line.encode("utf-8", "surrogateescape") for line in came] == lines


def test_a_line_that_is_too_long_is_left_out_and_the_next_is_not():
    cutter = Lines(longest=5)
    assert [line for chunk in (b"12", b"3456", b"78\nab", b"c\n") for line in cutter.feed(chunk)] == [
        None,
        "abc",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON)
def test_what_is_written_is_one_line_of_the_same_json(value):
    line = dumps(value)
    line.encode()
    assert "\n" not in line
    assert read(line) == value


def test_ids_of_other_types_are_other_ids():
    assert len({key_of(id) for id in (1, "1", True, None, 1.5, [1])}) == 6


@pytest.mark.parametrize(
    ("answer", "flaw"),
    [
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, ""),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}, ""),
        ({"id": 1, "result": {}}, "JSON-RPC 2.0"),
        ({"jsonrpc": "2.0", "id": 1}, "either a result or an error"),
        ({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}, "either a result or an error"),
        ({"jsonrpc": "2.0", "id": 1, "result": "text"}, "no object"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(answer, flaw):
    assert flaw in flaw_of(answer)
    assert bool(flaw) == bool(flaw_of(answer))


@pytest.mark.parametrize(
    ("arguments", "goal", "query"),
    [
        ({"path": "/src", "pattern": "cache"}, "", "cache"),
        ({"Query": "stale cache", "limit": 3}, "", "stale cache"),
        ({"keywords": ["cache", "reload"]}, "fix it", "cache reload\nfix it"),
        ({"path": "/src/cache.py"}, "", "/src/cache.py"),
        ({"edits": [{"old": "a"}, {"new": "b"}]}, "", "a b"),
        ({"content": "x" * 1000, "path": "a.py"}, "", "a.py"),
        ({"pattern": "two\nlines"}, "", "two lines"),
        ({"pattern": ""}, "a goal", "a goal"),
        (None, "", ""),
        ([1, 2], "", ""),
        ({"query": 3}, "", ""),
        ({"query": "y" * 9000}, "", "y" * 4000),
    ],
)
def test_the_query_is_what_the_arguments_look_for_and_then_the_goal(arguments, goal, query):
    assert query_of(arguments, goal).text == query


@given(JSON)
def test_any_arguments_give_a_query(arguments):
    query_of(arguments, "")


def test_arguments_that_are_nested_deeply_give_a_query():
    deep = "x"
    for _ in range(50_000):
        deep = [deep]
    assert query_of({"a": deep}, "").text == "x"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@given(st.lists(st.tuples(st.integers(0, 120), st.integers(0, 40)), max_size=60))
def test_a_store_stays_within_its_size_and_keeps_nothing_for_too_long(puts):
    clock = Clock()
    store = Store(seconds=100, size=200, clock=clock)
    since = {}
    for size, passed in puts:
        clock.now += passed
        id = store.new_id()
        assert store.put(id, size, size)
        since[id] = clock.now
        assert store.size <= 200
        assert store.get(id) == size
        assert store.size == sum(one for one in map(store.get, since) if one is not None)
        assert all(store.get(one) is None for one, then in since.items() if then <= clock.now - 100)
    clock.now += 100
    store.sweep()
    assert (len(store), store.size) == (0, 0)


def test_the_oldest_go_first():
    store = Store(seconds=100, size=10)
    ids = [store.new_id() for _ in range(3)]
    for id in ids:
        store.put(id, id, 4)
    assert [store.get(id) for id in ids] == [None, *ids[1:]]


def test_what_is_too_large_alone_is_not_kept_and_drives_nothing_out():
    store = Store(seconds=100, size=10)
    store.put("small", "small", 10)
    assert not store.put("large", "large", 11)
    assert store.get("small") == "small"


def test_ids_are_long_and_never_twice_the_same():
    ids = {Store.new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(id) == 16 for id in ids)


def test_the_tool_takes_a_name_that_the_server_has_not():
    catalog = Catalog()
    catalog.learn([{"name": PAGE_TOOL}, {"name": f"{PAGE_TOOL}_2"}, "no tool", {"name": 3}], anew=True)
    assert catalog.page_tool == f"{PAGE_TOOL}_3"
    catalog.learn([{"name": "other"}], anew=False)
    assert catalog.page_tool == f"{PAGE_TOOL}_3"
    catalog.learn([], anew=True)
    assert catalog.page_tool == PAGE_TOOL


def test_arguments_that_a_tool_wants_in_headers_are_given_so():
    catalog = Catalog()
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    catalog.learn([{"name": "tool", "inputSchema": schema}, {"name": "odd", "inputSchema": 3}], anew=True)
    assert parameter_headers(catalog.input_schema("tool"), {"region": "eu"}) == {"Mcp-Param-Region": "eu"}
    for name in ("tool", "odd", "never listed"):
        assert parameter_headers(catalog.input_schema(name), {}) == {}
    assert parameter_headers(schema, "no arguments") == {}


def test_a_worker_does_one_thing_after_another_and_gives_errors_back():
    async def main():
        worker = Worker("test")
        done = []
        first = worker.submit(lambda: (time.sleep(0.05), done.append(1)))
        second = worker.submit(lambda: done.append(2))
        await worker.result(second, 5)
        await worker.result(first, 5)
        assert done == [1, 2]
        with pytest.raises(ZeroDivisionError):
            await worker.run(lambda: 1 / 0)

    anyio.run(main)


def test_a_worker_that_is_stuck_says_so_at_once_and_goes_on_when_it_is_free():
    go_on = threading.Event()

    async def main():
        worker = Worker("test")
        with pytest.raises(TimeoutError, match=r"longer than 0\.05 seconds"):
            await worker.result(worker.submit(lambda: go_on.wait(10)), 0.05)
        began = time.monotonic()
        ran = []
        with pytest.raises(TimeoutError, match="has not ended"):
            await worker.result(worker.submit(lambda: ran.append(1)), 5)
        assert time.monotonic() - began < 1
        go_on.set()
        await anyio.sleep(0.1)
        assert await worker.result(worker.submit(lambda: "free"), 5) == "free"
        assert not ran

    anyio.run(main)


def test_json_that_is_nested_too_deeply_or_has_too_long_a_number_is_no_error_of_json():
    for line in ("[" * 200_000, "1" * 5000):
        with pytest.raises(ValueError, match=r"nested too deeply|digits"):
            read(line)
