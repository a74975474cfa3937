"""The configuration of the proxy: every key is read, and every mistake is named."""

import pytest
import yaml
from firstpage.core.errors import InputError
from firstpage.serve.mcp.config import ServerPlace, ToolRule, read_proxy_config
from firstpage.serve.mcp.rules import Rules

FULL = """
server: {command: [npx, -y, server], env: {TOKEN: "1"}, cwd: /tmp}
budget: 1000
tokens: chars4
value_function: hybrid
goal: mend the cache
keep_minutes: 5
keep_mebibytes: 1.5
timeout_s: 20
page_timeout_s: 2
message_mebibytes: 8
tools:
  search_files: {budget: 500, form: paths, value_function: bm25, root: /tmp}
  read_file: off
  other: {}
"""


def test_every_key_is_read(tmp_path):
    (tmp_path / "c.yaml").write_text(FULL)
    config = read_proxy_config(tmp_path / "c.yaml", budget=700)
    assert config.server == ServerPlace(command=("npx", "-y", "server"), env={"TOKEN": "1"}, cwd="/tmp")
    assert (config.budget, config.keep_minutes, config.keep_mebibytes) == (700, 5, 1.5)
    assert (config.timeout_s, config.page_timeout_s, config.message_mebibytes) == (20, 2, 8)
    assert config.tools == {
        "search_files": ToolRule(budget=500, form="paths", value_function="bm25", root="/tmp"),
        "read_file": None,
        "other": ToolRule(),
    }
    rules = Rules(config)
    assert (rules.of("search_files").budget, rules.of("other").budget, rules.of("unnamed").budget) == (
        500,
        700,
        700,
    )
    assert (rules.of("search_files").function.name, rules.of("other").function.name) == ("bm25", "hybrid")
    assert rules.of("read_file") is None


COMMAND = {"server": {"command": ["x"]}}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "it names no server; give one as 'server', or as a command after --"),
        (COMMAND | {"budgett": 3}, "there is no key 'budgett'; did you mean 'budget'?"),
        (COMMAND | {"budget": "many"}, "budget: must be a whole number, not 'many'"),
        (COMMAND | {"budget": 0}, "budget: must be at least 1, not 0"),
        (COMMAND | {"keep_minutes": 0}, "keep_minutes: must be above 0, not 0"),
        ({"server": "npx"}, "server: must be a mapping of keys to values, not 'npx'"),
        ({"server": {}}, "server: must have a command or, for a server that is there already, a url"),
        ({"server": {"command": ["x"], "url": "http://x"}}, "server: must have a command or"),
        ({"server": {"url": "ftp://x"}}, "server: url: must start with http:// or https://, not be 'ftp://x'"),
        ({"server": {"url": "http://x", "cwd": "/"}}, "server: cwd and env are for a command"),
        ({"server": {"command": ["x"], "headers": {}, "env": {}}}, ""),
        ({"server": {"command": ["x"], "headers": {"a": "b"}}}, "server: headers are for a url"),
        ({"server": {"command": ["x"], "env": {"PORT": 80}}}, "server: env: PORT: must be text, not 80; put"),
        ({"server": {"comand": ["x"]}}, "server: there is no key 'comand'; did you mean 'command'?"),
        (COMMAND | {"tools": ["a"]}, "tools: must be a mapping of keys to values, not '['a']'"),
        (COMMAND | {"tools": {"a": True}}, "tools: a: the rule: must be a mapping of keys"),
        (COMMAND | {"tools": {"a": {"rot": "/"}}}, "tools: a: there is no key 'rot'; did you mean 'root'?"),
        (COMMAND | {"tools": {"a": {"candidates": "wide"}}}, "tools: a: candidates: need a root"),
        (COMMAND | {"tools": {"a": {"add": -1}}}, "tools: a: add: must be at least 0, not -1"),
        (COMMAND | {"tools": {"a": {"form": "path"}}}, "tools: a: 'path' is no form of answer; did"),
        (COMMAND | {"tools": {"a": {"root": "/no/such"}}}, "tools: a: root: must name a folder"),
        (COMMAND | {"tools": {"a": {"value_function": "fifi"}}}, "tools: a: there is no value function"),
        (COMMAND | {"tools": {"a": {"root": "HERE", "candidates": "wid"}}}, "tools: a: there is no"),
        (COMMAND | {"tools": {"a": {"root": "HERE", "candidates": "wide"}}}, "a: root: 'HERE' is in no git"),
        (COMMAND | {"tokens": "chars5"}, "'chars5' is no token counter"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_in_one_sentence(tmp_path, keys, message):
    written = yaml.safe_dump(keys).replace("HERE", str(tmp_path))
    (tmp_path / "c.yaml").write_text(written)
    if not message:
        read_proxy_config(tmp_path / "c.yaml")
        return
    with pytest.raises(InputError) as caught:
        Rules(read_proxy_config(tmp_path / "c.yaml"))
    assert message.replace("HERE", str(tmp_path)) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [("a: [", "it is no YAML"), ("- a", "it must be a mapping"), (None, "it cannot be read")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, message):
    file = tmp_path / "c.yaml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(InputError, match=f"the configuration '{file}' cannot be used: {message}"):
        read_proxy_config(file)
