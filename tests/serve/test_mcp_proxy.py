"""The proxy as a client starts it, between the official SDK's client and servers, good ones and bad ones."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

FIRSTPAGE = Path(sys.executable).with_name("firstpage")
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])

SERVER = """
import os, sys
from typing import Any
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel
from mcp_types import ImageContent, TextContent

server = MCPServer("test")

class Row(BaseModel):
    path: str
    size: int

class Rows(BaseModel):
    rows: list[Row]

@server.tool()
def search(pattern: str) -> str:
    return "\\n".join(f"src/module_{n}/file_{n}.py" for n in range(300))

@server.tool()
def table(pattern: str) -> Rows:
    return Rows(rows=[Row(path=f"src/module_{n}/file_{n}.py", size=n) for n in range(200)])

@server.tool(structured_output=False)
def picture() -> list[Any]:
    return [ImageContent(type="image", data="QUJD" * 2000, mime_type="image/png"), "a cat"]

@server.tool()
def short(word: str) -> str:
    return word

@server.tool()
def fails() -> str:
    raise ValueError("no such thing")

@server.tool()
async def asks(context: Context) -> str:
    class Answer(BaseModel):
        name: str
    got = await context.elicit("who?", Answer)
    return got.data.name

@server.tool()
async def works(context: Context) -> str:
    for step in range(3):
        await context.report_progress(step, 3)
    return "done"

@server.resource("test://note")
def note() -> str:
    return "a note"

@server.prompt()
def greet(name: str) -> str:
    return f"hello {name}"

if __name__ == "__main__":
    print("told to the person", file=sys.stderr)
    server.run("stdio")
"""


@pytest.fixture(scope="session")
def server_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("mcp") / "sdk_server.py"
    file.write_text(SERVER)
    return file


PRELUDE = """
import json, os, signal, subprocess, sys, time
def say(message):
    print(message if isinstance(message, str) else json.dumps(message), flush=True)
def ask():
    return json.loads(sys.stdin.readline() or sys.exit())
def answer(id, result):
    return {"jsonrpc": "2.0", "id": id, "result": result}
"""


@pytest.fixture
def bad(tmp_path):
    """The command of a server that is some lines of Python."""

    def make(script):
        (tmp_path / "bad.py").write_text(PRELUDE + script)
        return [sys.executable, str(tmp_path / "bad.py")]

    return make


def proxied(*command, options=("-f", "hybrid", "--budget", "400")):
    return StdioServerParameters(
        command=str(FIRSTPAGE),
        args=["mcp", "proxy", *options, *(["--", *map(str, command)] if command else [])],
        env=dict(os.environ),
    )


def play(scene, parameters, mode="legacy", **more):
    async def main():
        with anyio.fail_after(50):
            async with Client(parameters, mode=mode, **more) as client:
                await scene(client)

    anyio.run(main)


async def text_of(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error
    return [block.text for block in result.content if isinstance(block, TextContent)]


@MODES
def test_an_sdk_client_finds_everything_of_an_sdk_server_and_pages_beside(server_file, mode):
    progress = []

    async def scene(client):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == ["search", "table", "picture", "short", "fails", "asks", "works", "firstpage_page"]
        await pages_are_had(client)
        assert await text_of(client, "short", word="hello") == ["hello"]
        assert (await client.call_tool("fails", {})).is_error
        picture = await client.call_tool("picture", {})
        assert [block.type for block in picture.content] == ["image", "text"]
        assert (await client.read_resource("test://note")).contents[0].text == "a note"
        assert "hello you" in str(await client.get_prompt("greet", {"name": "you"}))

        async def moved(done, total, message):
            progress.append(done)

        result = await client.call_tool("works", {}, progress_callback=moved)
        assert result.content[0].text == "done"
        with pytest.raises(MCPError):
            await client.read_resource("test://other")

    play(scene, proxied(sys.executable, server_file), mode)
    assert progress == [0, 1, 2]


async def pages_are_had(client):
    result = await client.call_tool("search", {"pattern": "module_217"})
    shown, note = (block.text for block in result.content if block.type == "text")
    assert shown.split("\n")[0] == "src/module_217/file_217.py"
    assert result.structured_content == {"result": shown}  # which the client has held against the schema
    assert len(result.model_dump_json(by_alias=True, exclude_unset=True)) <= 1600
    uri = next(block.uri for block in result.content if block.type == "resource_link")
    id = uri.split("/")[2]
    second = await text_of(client, "firstpage_page", id=id, page=2)
    assert (await client.read_resource(uri)).contents[0].text == second[0]
    pages = int(note.split(" of ")[1].split(",")[0])
    lines = shown.split("\n")
    for page in range(2, pages + 1):
        lines += (await text_of(client, "firstpage_page", id=id, page=page))[0].split("\n")
    assert sorted(lines) == sorted(f"src/module_{n}/file_{n}.py" for n in range(300))
    table = await client.call_tool("table", {"pattern": "module_5"})
    assert 0 < len(table.structured_content["rows"]) < 200
    assert table.structured_content["rows"][0]["path"] == "src/module_5/file_5.py"
    assert (await client.call_tool("firstpage_page", {"id": "none"})).is_error
    with pytest.raises(MCPError, match="cannot be read"):
        await client.read_resource("firstpage://none/page/2")


def test_a_server_may_ask_the_client(server_file):
    async def elicit(context, params):
        return ElicitResult(action="accept", content={"name": "me"})

    async def scene(client):
        assert await text_of(client, "asks") == ["me"]

    play(scene, proxied(sys.executable, server_file), elicitation_callback=elicit)


ASKING = """
server = {"name": "s", "version": "1"}
say(answer(ask()["id"], {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": server}))
ask()
call = ask()["id"]
say(dict(jsonrpc="2.0", id="s", method="sampling/createMessage", params={"messages": [], "maxTokens": 1}))
say(dict(jsonrpc="2.0", id="r", method="roots/list"))
roots, sampled = sorted((ask(), ask()), key=lambda one: one["id"])
told = [roots["result"]["roots"][0]["uri"], sampled["result"]["content"]["text"]]
say(answer(call, {"content": [{"type": "text", "text": text} for text in told]}))
ask()
"""


def test_sampling_and_roots_pass_both_ways(bad):
    async def sample(context, params):
        return CreateMessageResult(
            role="assistant", model="m", content=TextContent(type="text", text="sampled")
        )

    async def roots(context):
        return ListRootsResult(roots=[Root(uri="file:///root")])

    async def scene(client):
        result = await client.session.send_request(_call("x"), CallToolResult)
        assert [block.text for block in result.content] == ["file:///root", "sampled"]

    play(scene, proxied(*bad(ASKING)), sampling_callback=sample,
         list_roots_callback=roots)  # fmt: skip


def _call(name):
    from mcp_types import CallToolRequest, CallToolRequestParams

    return CallToolRequest(params=CallToolRequestParams(name=name, arguments={}))


@pytest.fixture(scope="session")
def http(server_file):
    """An SDK server over streamable HTTP; the URL."""
    made = importlib.util.spec_from_file_location("sdk_server", server_file)
    module = sys.modules["sdk_server"] = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    app = module.server.streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join(10)


@MODES
def test_a_server_over_http_is_found_just_so(http, mode):
    async def scene(client):
        assert (await client.list_tools()).tools[-1].name == "firstpage_page"
        await pages_are_had(client)
        assert await text_of(client, "short", word="hello") == ["hello"]
        assert (await client.read_resource("test://note")).contents[0].text == "a note"

    play(scene, proxied(options=("-f", "hybrid", "--budget", "400", "--url", http)), mode)


class Run:
    """A proxy whose client is the test, line by line."""

    def __init__(self, *command, config=None, options=()):
        options = [*options, *(["--config", str(config)] if config else [])]
        self.process = subprocess.Popen(
            [FIRSTPAGE, "mcp", "proxy", *options, *(["--", *map(str, command)] if command else [])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def say(self, message):
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def hear(self):
        return json.loads(self.process.stdout.readline())

    def end(self):
        """Hangs up; the status and what was written to standard error."""
        self.process.stdin.close()
        return self.ended()

    def ended(self):
        self._held, self.process.stdin = self.process.stdin, None  # which communicate would close
        said, told = self.process.communicate(timeout=20)
        assert said == b""
        return self.process.returncode, told.decode()


PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


def test_a_server_that_dies_is_named_to_the_client_and_to_the_person(bad):
    run = Run(*bad("ask()\nprint('out of memory', file=sys.stderr)\nos._exit(3)"))
    run.say(PING)
    heard = run.hear()
    assert (heard["id"], heard["error"]["code"]) == (7, -32000)
    assert heard["error"]["message"].endswith("bad.py' ended with exit status 3")
    status, told = run.ended()
    assert status == 1
    assert "out of memory" in told
    assert told.splitlines()[-1].startswith("firstpage: the MCP server '")
    assert told.splitlines()[-1].endswith("bad.py' ended with exit status 3; see what it wrote above")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("ask()\nos.kill(os.getpid(), 9)", "was ended by the signal SIGKILL"),
        ("ask()\nsubprocess.Popen(['sleep', '20'])\nos._exit(4)", "ended with exit status 4"),
        ("ask()\nos.close(1)\ntime.sleep(60)", "closed its output"),
    ],
    ids=["killed", "what it started lives on", "silent for ever"],
)
def test_a_server_that_ends_in_another_way_is_named_too(bad, script, message):
    run = Run(*bad(script))
    run.say(PING)
    assert message in run.hear()["error"]["message"]
    status, told = run.ended()
    assert (status, message in told) == (1, True)


def test_a_server_that_ends_before_anything_is_asked_is_named(bad):
    status, told = Run(*bad("sys.exit(5)")).ended()
    assert (status, "ended with exit status 5" in told) == (1, True)


ANSWER = "say(answer(ask()['id'], {}))\n"


def test_what_a_server_prints_beside_messages_is_left_out_and_told(bad):
    run = Run(*bad(f"sys.stdout.buffer.write(b'loading \\xff\\n\\n42\\n')\n{ANSWER}ask()"))
    run.say(PING)
    assert run.hear() == {"jsonrpc": "2.0", "id": 7, "result": {}}
    status, told = run.end()
    assert status == 0
    assert "the server sent what is no JSON" in told
    assert "the server sent what is no message, which is left out: 42" in told


def configured(folder, command, **keys):
    (folder / "proxy.yaml").write_text(json.dumps({"server": {"command": command}} | keys))
    return Run(config=folder / "proxy.yaml")


def test_a_message_that_is_too_long_is_left_out(bad, tmp_path):
    run = configured(tmp_path, bad(f"say('x' * 3_000_000)\n{ANSWER}ask()"), message_mebibytes=1)
    run.say(PING)
    assert run.hear()["result"] == {}
    assert "above message_mebibytes" in run.end()[1]


LATE = """
first, cancelled = ask(), ask()
say(answer(first["id"], {}))
say(answer(ask()["id"], cancelled))
ask()
"""


def test_a_server_that_is_late_gets_its_request_cancelled_and_the_client_an_error(bad, tmp_path):
    run = configured(tmp_path, bad(LATE), timeout_s=4)  # in which the server has started, too
    run.say(PING)
    assert run.hear()["error"]["code"] == -32001
    run.say(PING | {"id": 8})
    heard = run.hear()
    assert heard["id"] == 8  # the late answer to 7 was dropped
    assert heard["result"]["method"] == "notifications/cancelled"
    assert run.end()[0] == 0


def test_a_server_that_reads_nothing_keeps_nobody_from_hanging_up(bad):
    run = Run(*bad("time.sleep(60)"))
    began = time.monotonic()
    for _ in range(20):
        run.say(PING | {"params": {"x": "y" * 20_000}})
    status, _ = run.end()
    assert status == 0
    assert time.monotonic() - began < 15


DEAF = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
say({"jsonrpc": "2.0", "method": "here", "params": {"pid": os.getpid()}})
time.sleep(60)
"""


def test_a_client_that_hangs_up_ends_the_server_even_one_that_does_not_listen(bad):
    run = Run(*bad(DEAF))
    pid = run.hear()["params"]["pid"]
    assert run.end()[0] == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_proxy_and_its_server(bad, number):
    run = Run(*bad(DEAF.replace("SIG_IGN", "SIG_DFL")))
    pid = run.hear()["params"]["pid"]
    run.process.send_signal(number)
    status, told = run.ended()
    assert (status, told) == (128 + number, "")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_lines_pass_byte_for_byte_even_if_they_are_no_utf_8():
    run = Run("cat")
    for line in (b'{"jsonrpc" : "2.0","method":"x","params":{"a":"\xff\xfe","b":1.0}}', b'{"method":"y"}\r'):
        run.say(line)
        assert run.process.stdout.readline() == line.removesuffix(b"\r") + b"\n"
    assert run.end()[0] == 0


PRINTER = """
class Printer:
    name = "printer"
    def values(self, query, items):
        print("to standard output")
        import numpy
        return numpy.ones(len(items))
"""
FILES = "dict(content=[dict(type='text', text='\\n'.join(f'src/file_{n}.py' for n in range(900)))])"


def test_what_a_value_function_prints_does_not_reach_the_client(bad, tmp_path, monkeypatch):
    (tmp_path / "printer.py").write_text(PRINTER)
    info = tmp_path / "printer-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: printer\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[firstpage.value_functions]\nprinter = printer:Printer\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run = Run(*bad(f"say(answer(ask()['id'], {FILES}))\nask()"), options=["-f", "printer"])
    run.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}})
    assert "page 1 of" in run.hear()["result"]["content"][-1]["text"]
    assert run.end() == (0, "to standard output\n")


def test_an_http_server_that_is_not_there_is_an_error_for_each_request_and_no_end():
    run = Run(options=["--url", "http://127.0.0.1:9/mcp"])
    for id in (1, 2):
        run.say(PING | {"id": id})
        heard = run.hear()
        assert heard["id"] == id
        assert "cannot be reached at http://127.0.0.1:9/mcp" in heard["error"]["message"]
    run.say({"jsonrpc": "2.0", "id": 3, "method": "x", "params": [1]})
    assert "cannot be sent this over HTTP" in run.hear()["error"]["message"]
    assert run.end()[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--", "no-such-command"], "the MCP server cannot be started: 'no-such-command': No such file"),
        (["-f", "hybird", "--", "cat"], "there is no value function 'hybird'; did you mean 'hybrid'?"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(arguments, message):
    done = subprocess.run(
        [FIRSTPAGE, "mcp", "proxy", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


FILESYSTEM = os.environ.get("FIRSTPAGE_MCP_FILESYSTEM")


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """A folder of 3,000 files."""
    folder = tmp_path_factory.mktemp("tree")
    words = ["cache", "reload", "parser", "token", "store", "query", "index", "model", "view", "form", "auth",
             "user", "session", "http", "server"]  # fmt: skip
    for number in range(60):
        inner = folder / "src" / f"{words[number % 15]}_{number}"
        inner.mkdir(parents=True)
        for file in range(50):
            name = f"{words[file % 15]}_{words[(file + number) % 15]}_{file}.py"
            (inner / name).write_text(f"def f{file}():\n    return {number}\n")
    return folder.resolve()


@MODES
@pytest.mark.skipif(
    not FILESYSTEM, reason="FIRSTPAGE_MCP_FILESYSTEM is not set; it names mcp-server-filesystem"
)
def test_the_filesystem_server_on_thousands_of_files(tree, mode):
    async def scene(client):
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "search_files" in names
        found = {"path": str(tree), "pattern": "**/*.py"}
        goal = {"firstpage/goal": "the http session is stale"}
        result = await client.call_tool("search_files", found, meta=goal)
        shown, note = (block.text for block in result.content if block.type == "text")
        assert "http" in shown.split("\n")[0]
        assert "session" in shown.split("\n")[0]
        assert " of 3000 items shown" in note
        assert result.structured_content == {"content": shown}
        assert len(result.model_dump_json(by_alias=True, exclude_unset=True)) <= 8000
        id = next(block.uri for block in result.content if block.type == "resource_link").split("/")[2]
        lines = shown.split("\n")
        for page in range(2, 1 + int(note.split(" of ")[1].split(",")[0])):
            lines += (await text_of(client, "firstpage_page", id=id, page=page))[0].split("\n")
        assert sorted(lines) == sorted(map(str, tree.rglob("*.py")))
        whole = await client.call_tool("directory_tree", {"path": str(tree)}, meta=goal)
        assert len(whole.model_dump_json(by_alias=True, exclude_unset=True)) <= 8000
        assert "http_session" in whole.content[0].text
        file = sorted(tree.rglob("*.py"))[0]
        assert await text_of(client, "read_text_file", path=str(file)) == [file.read_text()]

    play(scene, proxied(FILESYSTEM, tree, options=("-f", "hybrid")), mode)
