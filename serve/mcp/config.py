"""What the proxy is told, read from YAML: frozen classes, whose docstrings explain every key."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import InputError
from ...core.settings import above_zero, check_ranges, least, made_of, read_mapping
from ...readers import DEFAULT

MEBIBYTE = 1 << 20


class Texts(dict[str, str]):
    """Texts by their names."""


@dataclass(frozen=True, kw_only=True)
class ServerPlace:
    """Where the MCP server is: ``server`` in the configuration.

    Args:
        command: that starts it, with its arguments; it then speaks over standard input and output.
        cwd: folder to start it in; the proxy's own if empty.
        env: environment variables for it, besides the proxy's own.
        url: of a server that is there already and speaks streamable HTTP.
        headers: sent to it with every request.

    Raises:
        InputError: it is neither a command nor a URL, or both.
    """

    command: tuple[str, ...] = ()
    cwd: str = ""
    env: Texts | None = None
    url: str = ""
    headers: Texts | None = None

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise InputError("must have a command or, for a server that is there already, a url")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise InputError(f"url: must start with http:// or https://, not be '{self.url}'")
        if (self.cwd or self.env) and self.url:
            raise InputError("cwd and env are for a command; a url has headers")
        if self.headers and self.command:
            raise InputError("headers are for a url; a command has env")

    def __str__(self) -> str:
        return self.url or " ".join(self.command)


@dataclass(frozen=True, kw_only=True)
class ToolRule:
    """What is done with the results of one tool: ``tools: NAME`` in the configuration.

    ``off`` in its place leaves them as they are.

    Args:
        budget: tokens of a page; that of all tools if not given; >= 1.
        form: of the text in its results, see ``firstpage select``; the one that it looks like by ``auto``.
        value_function: scores the items; that of all tools if empty.
        root: folder whose files the paths in its results stand for, read for scoring alone.
        candidates: for a tool that searches: the generator of files that it may have missed, such as
            ``wide``; ``root`` is then in a git work tree, whose commit HEAD is searched. None if empty.
        add: files that a page may get beyond those that the tool listed; >= 0.
    """

    budget: int | None = least(None, 1)
    form: str = "auto"
    value_function: str = ""
    root: str = ""
    candidates: str = ""
    add: int = least(5, 0)

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.candidates and not self.root:
            raise InputError("candidates: need a root, whose files they are; name it")


class ToolRules(dict[str, ToolRule | None]):
    """The rules of single tools, by the names of these; None for a tool that is left alone."""


@dataclass(frozen=True, kw_only=True)
class ProxyConfig:
    """What ``firstpage mcp proxy`` is told.

    Args:
        server: where the MCP server is, see `ServerPlace`.
        budget: tokens of a tool's result; a longer one is brought to pages; >= 1.
        tokens: what counts them, see ``firstpage select``.
        value_function: scores the items of results.
        goal: what the conversation is about, where the client does not say so with each call.
        keep_minutes: how long the further pages of a result stay; above 0.
        keep_mebibytes: of memory for all of them together; the oldest go first; above 0.
        timeout_s: seconds that the server may take to answer a request, or to report progress on it;
            above 0.
        page_timeout_s: seconds to make a page, after which the result is delivered as it is; above 0.
        message_mebibytes: of one message; a longer one from the server is left out; above 0.
        tools: rules of single tools, by their names, see `ToolRule`.

    Raises:
        InputError: a value is out of its range.
    """

    server: ServerPlace
    budget: int = least(2000, 1)
    tokens: str = "chars4"
    value_function: str = DEFAULT
    goal: str = ""
    keep_minutes: float = above_zero(30.0)
    keep_mebibytes: float = above_zero(64.0)
    timeout_s: float = above_zero(300.0)
    page_timeout_s: float = above_zero(10.0)
    message_mebibytes: float = above_zero(256.0)
    tools: ToolRules | None = None

    def __post_init__(self) -> None:
        check_ranges(self)


def read_proxy_config(path: str | Path | None, **given: Any) -> ProxyConfig:
    """A configuration from a YAML file, or from nothing but what is given.

    Args:
        path: of the file; None for none.
        given: keys that count instead of those in the file.

    Raises:
        InputError: the file cannot be read, a key is unknown, or a value is of the wrong type or out of its
            range.
        MissingExtraError: pyyaml is not installed.
    """
    if path is None:
        return proxy_config(given)
    try:
        return proxy_config({**read_mapping(Path(path), "serve"), **given})
    except InputError as error:
        raise InputError(f"the configuration '{path}' cannot be used: {error}") from error


def proxy_config(read: Mapping[Any, Any]) -> ProxyConfig:
    """A configuration from the values of its keys.

    Raises:
        InputError: a key is unknown, or a value is of the wrong type or out of its range.
    """
    if "server" not in read:
        raise InputError("it names no server; give one as 'server', or as a command after --")
    tools = {
        str(name): _rule(str(name), rule) for name, rule in _object("tools", read.get("tools", {})).items()
    }
    return made_of({**read, "server": _server(read["server"]), "tools": ToolRules(tools)}, ProxyConfig)


def _server(read: Any) -> ServerPlace:
    place = _object("server", read)
    texts = {key: _texts(f"server: {key}", place[key]) for key in ("env", "headers") if key in place}
    try:
        return made_of({**place, **texts}, ServerPlace)
    except InputError as error:
        raise InputError(f"server: {error}") from error


def _rule(name: str, read: Any) -> ToolRule | None:
    if read is False or read == "off":  # YAML takes a bare `off` for false
        return None
    try:
        return made_of(_object("the rule", read), ToolRule)
    except InputError as error:
        raise InputError(f"tools: {name}: {error}") from error


def _texts(key: str, read: Any) -> Texts:
    """A mapping of texts, whose numbers a person may have forgotten to quote."""
    for name, value in _object(key, read).items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise InputError(f"{key}: {name}: must be text, not {value!r}; put it in quotes")
    return Texts(read)


def _object(key: str, read: Any) -> Mapping[Any, Any]:
    if not isinstance(read, dict):
        raise InputError(f"{key}: must be a mapping of keys to values, not '{read}'")
    return read
