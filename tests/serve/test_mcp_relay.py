"""What passes the proxy, message by message, with a client and a server played by the test."""

import json
import math
from contextlib import asynccontextmanager

import anyio
import pytest
from firstpage.core.errors import RunError
from firstpage.serve.mcp import desk as desk_module
from firstpage.serve.mcp.catalog import Catalog
from firstpage.serve.mcp.config import proxy_config
from firstpage.serve.mcp.desk import Desk
from firstpage.serve.mcp.relay import Relay
from firstpage.serve.mcp.side import InterruptedSideError, SendError
from hypothesis import given, settings
from hypothesis import strategies as st

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PATHS = "\n".join(f"src/module_{number}/file_{number}.py" for number in range(300))
LONG = {"content": [{"type": "text", "text": PATHS}]}


class Played:
    """A side whose lines the test gives and takes."""

    def __init__(self):
        self._give, self._to_proxy = anyio.create_memory_object_stream(math.inf)
        self._from_proxy, self._take = anyio.create_memory_object_stream(math.inf)
        self.refuses = None

    async def receive(self):
        line = await self._to_proxy.receive()
        if isinstance(line, Exception):
            raise line
        return line

    async def gone(self):
        await anyio.sleep_forever()

    async def send(self, line):
        if self.refuses:
            raise SendError(self.refuses)
        await self._from_proxy.send(line)

    async def says(self, message):
        text = message if message is None or isinstance(message, str | Exception) else json.dumps(message)
        await self._give.send(text)

    async def hears_line(self):
        with anyio.fail_after(20):
            return await self._take.receive()

    async def hears(self):
        return json.loads(await self.hears_line())

    def has_heard(self):
        return self._take.statistics().current_buffer_used


def request(id, method, params=None, **more):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}, **more}


def call(id, name="tool", arguments=None, meta=None):
    params = {"name": name, "arguments": arguments or {}} | ({"_meta": meta} if meta else {})
    return request(id, "tools/call", params)


def answered(id, result):
    return {"jsonrpc": "2.0", "id": id, "result": result}


def play(scene, **keys):
    """Plays a scene of a client, a server and a proxy with these keys of its configuration."""

    @asynccontextmanager
    async def relayed():
        settings = {"server": {"command": ["x"]}, "budget": 300, "value_function": "hybrid"} | keys
        client, server = Played(), Played()
        desk = Desk(proxy_config(settings), Catalog())
        relay = Relay(client, server, desk, settings.get("timeout_s", 60))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(relay.run)
            yield client, server, relay
            tasks.cancel_scope.cancel()

    async def main():
        async with relayed() as (client, server, relay):
            await scene(client, server, relay)

    anyio.run(main)


async def told(client, server, method, result, params=None, id=0):
    """The result of a request that the server answers so."""
    await client.says(request(id, method, params))
    await server.hears_line()
    await server.says(answered(id, result))
    return (await client.hears())["result"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
IDS = st.integers() | st.text() | st.none() | st.floats(allow_nan=False)
METHODS = st.text() | st.sampled_from(
    ["ping", "tools/call", "roots/list", "notifications/cancelled", "tools/list"]
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={"jsonrpc": st.just("2.0"), "id": IDS, "method": METHODS, "params": JSON, "result": JSON,
              "error": JSON, "extra": JSON},
)  # fmt: skip


@settings(max_examples=60)
@given(st.lists(MESSAGES | st.lists(MESSAGES, max_size=2), max_size=6), st.booleans())
def test_any_message_passes_both_ways_as_the_line_that_came(messages, spaced):
    lines = [json.dumps(message, separators=(" , ", " : ") if spaced else None) for message in messages]

    async def scene(client, server, relay):
        for speaks, hears in ((client, server), (server, client)):
            for line in lines:
                if speaks is server and '"id"' in line:  # may answer what the client has just asked
                    continue
                await speaks.says(line)
                assert await hears.hears_line() == line

    play(scene, value_function="fifo")


@given(st.dictionaries(st.text(), JSON, max_size=4))
@settings(max_examples=30)
def test_any_answer_within_the_budget_passes_as_the_line_that_came(result):
    async def scene(client, server, relay):
        for id, method in enumerate(("tools/call", "resources/read", "prompts/get", "some/thing")):
            await client.says(request(id, method, {"name": "tool", "uri": "file:///a"}))
            await server.hears_line()
            line = json.dumps(answered(id, result), indent=None, separators=(", ", " :"))
            await server.says(line)
            assert await client.hears_line() == line

    play(scene, value_function="fifo", budget=1_000_000)


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","method":"x","params":{"a":1e999,"b":"\\ud800","c":1.0,"d":12345678901234567890}}',
        '{"jsonrpc":"2.0","method":"x","params":{"a":' + "[" * 5000 + "]" * 5000 + "}}",
        '{"jsonrpc":"2.0","method":"x","params":[1,2],"more":{}}',
        '{"jsonrpc":"2.0","method":"x","params":{"a":' + "1" * 5000 + "}}",
        '{"jsonrpc":"2.0","method":"x","params":{"a":"\udcff"}}',
    ],
    ids=["what no model keeps", "nested deeply", "parameters by position", "a long number", "no UTF-8"],
)
def test_what_the_sdk_would_drop_passes_too(line):
    async def scene(client, server, relay):
        await client.says(line)
        assert await server.hears_line() == line
        await server.says(line)
        assert await client.hears_line() == line

    play(scene)


def test_a_long_result_becomes_a_page_and_its_rest_is_had_by_the_tool_and_the_link():
    async def scene(client, server, relay):
        await told(
            client, server, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        )
        result = await told(
            client, server, "tools/call", LONG, {"name": "tool", "arguments": {"q": "module_217"}}
        )
        shown, link, note = result["content"]
        assert "src/module_217/file_217.py" in shown["text"]
        id = link["uri"].split("/")[2]
        await client.says(call(5, "firstpage_page", {"id": id, "page": 2}))
        second = (await client.hears())["result"]
        await client.says(request(6, "resources/read", {"uri": link["uri"]}))
        contents = (await client.hears())["result"]["contents"]
        assert contents[0] == {
            "uri": link["uri"],
            "mimeType": "text/plain",
            "text": second["content"][0]["text"],
        }
        assert "page 2 of" in note["text"].replace("page 1 of", "page 2 of")
        assert server.has_heard() == 0

    play(scene)


def test_the_goal_comes_from_the_call_or_else_from_the_configuration():
    async def scene(client, server, relay):
        for id, meta, sought in (
            (1, {"firstpage/goal": "look at module_123"}, 123),
            (2, None, 45),
            (3, {"firstpage/goal": 3}, 45),
        ):
            await client.says(call(id, meta=meta))
            heard = await server.hears()
            assert heard["params"].get("_meta") == meta
            await server.says(answered(id, LONG))
            result = (await client.hears())["result"]
            assert f"file_{sought}.py" in result["content"][0]["text"].split("\n")[0]

    play(scene, goal="module_45 is broken")


def test_rules_of_single_tools_count():
    async def scene(client, server, relay):
        for name, most in (("other", 300), ("small", 150), ("quiet", None)):
            result = await told(client, server, "tools/call", LONG, {"name": name})
            size = len(json.dumps(result, separators=(",", ":"))) / 4
            assert result == LONG if most is None else most / 2 < size <= most

    play(scene, tools={"small": {"budget": 150, "form": "paths"}, "quiet": False})


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "of 2027, perhaps"])
def test_a_protocol_without_links_gets_none(version):
    async def scene(client, server, relay):
        await told(client, server, "initialize", {"protocolVersion": version, "capabilities": {"tools": {}}})
        result = await told(client, server, "tools/call", LONG, {"name": "tool"})
        assert [block["type"] for block in result["content"]] == ["text", "text"]

    play(scene)


def test_a_modern_client_gets_links_and_results_that_are_complete():
    async def scene(client, server, relay):
        await client.says(call(1, meta=MODERN))
        await server.hears_line()
        await server.says(answered(1, LONG | {"resultType": "complete"}))
        result = (await client.hears())["result"]
        assert result["resultType"] == "complete"
        uri = result["content"][1]["uri"]
        await client.says(call(2, "firstpage_page", {"id": uri.split("/")[2]}, MODERN))
        assert (await client.hears())["result"]["resultType"] == "complete"
        await client.says(request(3, "resources/read", {"uri": uri, "_meta": MODERN}))
        read = (await client.hears())["result"]
        assert (read["resultType"], read["ttlMs"], read["cacheScope"]) == ("complete", 0, "private")
        await client.says(request(4, "resources/read", {"uri": "firstpage://none/page/2", "_meta": MODERN}))
        assert (await client.hears())["error"]["code"] == -32602

    play(scene)


def test_the_tool_stands_at_the_end_of_the_list_alone():
    async def scene(client, server, relay):
        page = await told(client, server, "tools/list", {"tools": [{"name": "a"}], "nextCursor": "2"})
        assert [tool["name"] for tool in page["tools"]] == ["a"]
        page = await told(
            client, server, "tools/list", {"tools": [{"name": "b"}], "ttlMs": 5}, {"cursor": "2"}
        )
        assert [tool["name"] for tool in page["tools"]] == ["b", "firstpage_page"]
        assert page["ttlMs"] == 5
        assert "30 minutes" in page["tools"][-1]["description"]

    play(scene)


def test_a_tool_of_the_server_with_that_name_is_the_server_s():
    async def scene(client, server, relay):
        page = await told(client, server, "tools/list", {"tools": [{"name": "firstpage_page"}]})
        assert page["tools"][-1]["name"] == "firstpage_page_2"
        result = await told(client, server, "tools/call", {"content": []}, {"name": "firstpage_page"})
        assert result == {"content": []}
        result = await told(client, server, "tools/call", LONG, {"name": "tool"})
        assert "call firstpage_page_2(id=" in result["content"][-1]["text"]

    play(scene)


@pytest.mark.parametrize(
    ("method", "key"), [("initialize", "resources/list"), ("server/discover", "resources/templates/list")]
)
def test_links_can_be_followed_with_a_server_that_has_no_resources(method, key):
    async def scene(client, server, relay):
        said = {"capabilities": {"tools": {}, "logging": {}}, "protocolVersion": "2025-11-25"}
        result = await told(client, server, method, said)
        assert result["capabilities"] == {"tools": {}, "logging": {}, "resources": {}}
        await client.says(request(3, key))
        lists = {"resources/list": "resources", "resources/templates/list": "resourceTemplates"}
        assert (await client.hears())["result"] == {lists[key]: []}

    play(scene)


@pytest.mark.parametrize(
    "capabilities", [{"tools": {}, "resources": {"subscribe": True}}, {"prompts": {}}, None]
)
def test_what_a_server_can_do_passes_where_nothing_is_to_be_added(capabilities):
    async def scene(client, server, relay):
        said = {"capabilities": capabilities, "protocolVersion": "2025-11-25"}
        assert await told(client, server, "initialize", said) == said
        assert await told(client, server, "resources/list", {"resources": [1]}, id=1) == {"resources": [1]}

    play(scene)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"id": "unknown", "page": 2}, "call the tool itself again"),
        ({}, "no pages with the id 'None'"),
        (None, "no pages"),
        ({"id": "ID", "page": 99}, "there is no page 99; the answer has"),
        ({"id": "ID", "page": "two"}, "page: must be a whole number, not 'two'"),
        ({"id": "ID", "page": True}, "page: must be a whole number, not True"),
        ({"id": "ID", "page": 0}, "there is no page 0"),
        ({"id": "ID", "item": "7000"}, "has no item '7000'"),
        ({"id": ["ID"]}, "no pages with the id"),
    ],
)
def test_a_wrong_call_of_the_tool_gets_a_result_that_says_what_is_wrong(arguments, message):
    async def scene(client, server, relay):
        result = await told(client, server, "tools/call", LONG, {"name": "tool"})
        id = result["content"][-1]["text"].split("'")[1]
        given = arguments and {key: id if one == "ID" else one for key, one in arguments.items()}
        await client.says(request(2, "tools/call", {"name": "firstpage_page", "arguments": given}))
        result = (await client.hears())["result"]
        assert result["isError"]
        assert message in result["content"][0]["text"]

    play(scene)


def test_pages_stay_as_long_as_they_are_kept_and_no_longer():
    async def scene(client, server, relay):
        id = (await told(client, server, "tools/call", LONG, {"name": "tool"}))["content"][-1]["text"].split(
            "'"
        )[1]
        await anyio.sleep(0.4)
        await client.says(call(2, "firstpage_page", {"id": id}))
        assert "stay for 0.005 minutes" in (await client.hears())["result"]["content"][0]["text"]
        await client.says(request(3, "resources/read", {"uri": f"firstpage://{id}/page/2"}))
        assert (await client.hears())["error"]["code"] == -32002

    play(scene, keep_minutes=0.005)


def test_a_result_whose_pages_would_not_fit_in_memory_is_delivered_whole(capsys):
    async def scene(client, server, relay):
        assert await told(client, server, "tools/call", LONG, {"name": "tool"}) == LONG

    play(scene, keep_mebibytes=0.01)
    assert "keep_mebibytes is too small" in capsys.readouterr().err


@pytest.mark.parametrize("error", [RunError("it broke"), ZeroDivisionError("x"), RecursionError()])
def test_an_error_in_the_proxy_delivers_the_answer_as_it_came(error, monkeypatch, capsys):
    def fails(*_):
        raise error

    monkeypatch.setattr(desk_module, "first_page", fails)

    async def scene(client, server, relay):
        await client.says(call(1))
        await server.hears_line()
        line = json.dumps(answered(1, LONG), indent=None, separators=(", ", " : "))
        await server.says(line)
        assert await client.hears_line() == line

    play(scene)
    assert "the tool 'tool' of tools/call is delivered as it is" in capsys.readouterr().err


def test_a_page_that_takes_too_long_is_not_waited_for_and_other_messages_go_on(monkeypatch):
    import time

    monkeypatch.setattr(desk_module, "first_page", lambda *_: time.sleep(1.5))

    async def scene(client, server, relay):
        for id in (1, 2):
            await client.says(call(id))
            await server.hears_line()
        await server.says(answered(1, LONG))
        await server.says({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        assert "method" in await client.hears()  # it came later, and waits for no page
        began = anyio.current_time()
        assert (await client.hears())["result"] == LONG
        await server.says(answered(2, LONG))  # the page before is still being made
        assert (await client.hears())["result"] == LONG
        assert anyio.current_time() - began < 1

    play(scene, page_timeout_s=0.3)


@pytest.mark.parametrize(
    "result",
    [
        {"content": "text"}, {"content": [1, "x", {}]}, {"content": [{"type": "text"}]}, {"content": {}}, {},
        {"resultType": "input_required", "inputRequests": {"a": {"method": "elicitation/create"}}},
        {"content": [{"type": "text", "text": 7}], "structuredContent": 3},
        {"content": [{"type": "hologram", "data": "x" * 5000}]},
    ],
)  # fmt: skip
def test_a_result_that_is_none_of_a_tool_passes(result):
    async def scene(client, server, relay):
        assert await told(client, server, "tools/call", result, {"name": "tool"}) == result

    play(scene, budget=200)


@pytest.mark.parametrize("line", ["garbage", '{"jsonrpc":', "3", '"text"', "", "  ", "\udcff\udcfe", "[1"])
def test_what_a_server_prints_that_is_no_message_is_left_out(line):
    async def scene(client, server, relay):
        await client.says(request(1, "ping"))
        await server.hears_line()
        await server.says(line)
        await server.says(answered(1, {}))
        assert await client.hears() == answered(1, {})

    play(scene)


@pytest.mark.parametrize(
    "broken",
    [{"id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "id": 1, "result": "text"},
     {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}, {"jsonrpc": "2.0", "id": 1, "error": "no"}],
)  # fmt: skip
def test_an_answer_that_breaks_the_protocol_becomes_an_error_that_says_so(broken):
    async def scene(client, server, relay):
        await client.says(call(1))
        await server.hears_line()
        await server.says(broken)
        error = (await client.hears())["error"]
        assert error["code"] == -32603
        assert "breaks the protocol" in error["message"]

    play(scene)


def test_what_a_client_sends_that_is_no_json_is_answered_and_the_rest_goes_on():
    async def scene(client, server, relay):
        await client.says("garbage")
        heard = await client.hears()
        assert (heard["id"], heard["error"]["code"]) == (None, -32700)
        assert await told(client, server, "ping", {}) == {}

    play(scene)


def test_a_late_answer_is_replaced_by_an_error_and_dropped_when_it_comes():
    async def scene(client, server, relay):
        await client.says(call("slow"))
        await server.hears_line()
        heard = await client.hears()
        assert heard["id"] == "slow"
        assert heard["error"]["code"] == -32001
        assert "did not answer tools/call within 0.2 seconds" in heard["error"]["message"]
        cancelled = await server.hears()
        assert cancelled["method"] == "notifications/cancelled"
        assert cancelled["params"]["requestId"] == "slow"
        await server.says(answered("slow", {}))
        assert await told(client, server, "ping", {"a": 1}) == {"a": 1}

    play(scene, timeout_s=0.2)


def test_progress_keeps_a_slow_request_alive_and_so_does_a_question_of_the_server():
    async def scene(client, server, relay):
        await client.says(call(1, meta={"progressToken": "p"}))
        await server.hears_line()
        for _ in range(6):
            await server.says(
                {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "p"}}
            )
            assert (await client.hears())["method"] == "notifications/progress"
            await anyio.sleep(0.15)
        await server.says(request("e", "elicitation/create"))
        assert (await client.hears())["method"] == "elicitation/create"
        await anyio.sleep(0.8)
        await client.says(answered("e", {"action": "accept"}))
        assert (await server.hears())["result"] == {"action": "accept"}
        await server.says(answered(1, {"content": []}))
        assert "result" in await client.hears()

    play(scene, timeout_s=0.4)


def test_a_subscription_may_stay_open():
    async def scene(client, server, relay):
        await client.says(request(1, "subscriptions/listen"))
        await server.hears_line()
        await anyio.sleep(0.5)
        await server.says(answered(1, {"resultType": "complete"}))
        assert "result" in await client.hears()

    play(scene, timeout_s=0.1)


def test_a_cancelled_request_is_not_waited_for():
    async def scene(client, server, relay):
        await client.says(call(1))
        await client.says({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        await server.hears_line()
        assert (await server.hears())["method"] == "notifications/cancelled"
        await anyio.sleep(0.4)
        assert client.has_heard() == 0

    play(scene, timeout_s=0.1)


def test_everything_asked_is_answered_when_the_server_has_ended():
    async def scene(client, server, relay):
        await client.says(call(1))
        await client.says(request("2", "ping"))
        await server.hears_line()
        await server.hears_line()
        await relay.fail("the MCP server ended with exit status 3")
        heard = [await client.hears(), await client.hears()]
        assert [one["id"] for one in heard] == [1, "2"]
        assert {one["error"]["message"] for one in heard} == {"the MCP server ended with exit status 3"}

    play(scene)


def test_the_page_of_an_answer_that_came_before_the_end_is_still_delivered():
    async def main():
        client, server = Played(), Played()
        config = proxy_config({"server": {"command": ["x"]}, "budget": 300, "value_function": "fifo"})
        relay = Relay(client, server, Desk(config, Catalog()), 60)
        await client.says(call(1))

        async def play_server():
            await server.hears_line()
            await server.says(answered(1, LONG))
            await server.says(None)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(play_server)
            assert await relay.run()
        assert "page 1 of" in (await client.hears())["result"]["content"][-1]["text"]

    anyio.run(main)


def test_a_broken_connection_answers_what_was_asked_and_the_next_request_goes_on():
    async def scene(client, server, relay):
        await client.says(call(1))
        await server.hears_line()
        await server.says(InterruptedSideError("cannot be reached"))
        assert "cannot be reached" in (await client.hears())["error"]["message"]
        assert await told(client, server, "ping", {}) == {}

    play(scene)


def test_a_request_that_the_server_does_not_take_is_answered_with_an_error():
    async def scene(client, server, relay):
        server.refuses = "does not read its input any more"
        await client.says({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await client.says(call(1))
        assert "does not read its input" in (await client.hears())["error"]["message"]

    play(scene)


def test_the_client_s_end_ends_the_relay():
    async def main():
        client = Played()
        config = proxy_config({"server": {"command": ["x"]}, "value_function": "fifo"})
        await client.says(None)
        with anyio.fail_after(5):
            assert not await Relay(client, Played(), Desk(config, Catalog()), 60).run()

    anyio.run(main)
