"""What the proxy itself has to say: to its own tool and resources, and in place of long results."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from mcp_types.version import is_version_at_least

from ...core.pages import Pages
from . import page_tool
from .additions import unlisted
from .catalog import Catalog
from .config import MEBIBYTE, ProxyConfig
from .messages import (
    INVALID_PARAMS,
    NO_RESOURCE,
    Body,
    answer,
    completed,
    dumps,
    is_modern,
    meta_of,
    params_of,
    refusal,
)
from .paging import FirstPage, Further, first_page
from .queries import GOAL_KEY, query_of
from .rules import Rule, Rules
from .side import log
from .store import Store
from .worker import Worker

_AT_ONCE = 20_000  # characters of a message whose tokens are counted without another thread
_LINKS_SINCE = "2025-06-18"


@dataclass
class Asked:
    """A request of the client that the server has not answered yet.

    Args:
        body: the request.
        until: when it is too late for an answer, by the monotonic clock.
        files: what the tool may miss, where that is looked for.
    """

    body: Body
    until: float
    files: "Future[list[str]] | None" = field(default=None)

    @property
    def method(self) -> str:
        """Of the request."""
        return str(self.body["method"])


class Desk:
    """Looks at what passes the proxy.

    Args:
        config: as read.
        catalog: learns of the server's tools.

    Raises:
        InputError: the configuration names something that is not there.
    """

    def __init__(self, config: ProxyConfig, catalog: Catalog) -> None:
        self._config, self._catalog = config, catalog
        self._rules = Rules(config)
        self.store: Store[Pages] = Store(config.keep_minutes * 60, int(config.keep_mebibytes * MEBIBYTE))
        self._tool = page_tool.PageTool(self.store, config.keep_minutes)
        self._presser, self._finding = Worker("pages"), Worker("files")
        self._links = False
        self._lends_resources = False  # whether the server itself has none
        for finder in self._rules.finders:
            self._finding.submit(finder.warm)

    def reply(self, request: Body) -> str | None:
        """The line that answers a request of the client; None if it is for the server."""
        method, params = request["method"], params_of(request)
        if method == "tools/call" and params.get("name") == self._catalog.page_tool:
            return answer(request["id"], completed(request, self._tool.called(params.get("arguments"))))
        if method == "resources/read" and str(params.get("uri")).startswith(page_tool.SCHEME):
            return self._read(request, str(params["uri"]))
        lists = {"resources/list": "resources", "resources/templates/list": "resourceTemplates"}
        if self._lends_resources and method in lists:
            return answer(request["id"], completed(request, {lists[method]: []}, cacheable=True))
        return None

    def begin(self, asked: Asked) -> None:
        """Starts what can be done before the server answers."""
        if asked.method == "tools/call":
            rule = self._rules.of(_name_of(asked.body))
            if rule is not None and rule.finder is not None and rule.add:
                query = query_of(params_of(asked.body).get("arguments"), self._goal(asked.body))
                asked.files = self._finding.submit(partial(rule.finder.found, query))

    def is_slow(self, asked: Asked) -> bool:
        """Whether the answer to a request takes a while to write."""
        return asked.method == "tools/call"

    async def answered(self, asked: Asked, line: str, body: Body) -> str:
        """The line to deliver in place of the server's answer, which is often that itself."""
        result = body.get("result")
        if not isinstance(result, dict):
            return line
        try:
            return await self._delivered(asked, line, body, result)
        except Exception as error:  # whatever it is, the answer is there
            log(f"{_told(asked)} is delivered as it is: {type(error).__name__}: {error}")
            return line

    async def _delivered(self, asked: Asked, line: str, body: Body, result: dict[str, Any]) -> str:
        if asked.method in {"initialize", "server/discover"}:
            return self._introduced(asked, line, body, result)
        if asked.method == "tools/list" and isinstance(result.get("tools"), list):
            return self._listed(asked, line, body, result)
        if asked.method == "tools/call" and isinstance(result.get("content"), list):
            page = await self._page(asked, line, result)
            return line if page is None else dumps({**body, "result": page})
        return line

    def _introduced(self, asked: Asked, line: str, body: Body, result: dict[str, Any]) -> str:
        """Says that there are resources where the server has none, so that links can be followed."""
        version = str(result.get("protocolVersion"))
        self._links = asked.method == "server/discover" or is_version_at_least(version, _LINKS_SINCE)
        capabilities = result.get("capabilities")
        if not isinstance(capabilities, dict) or "tools" not in capabilities:
            return line
        self._lends_resources = "resources" not in capabilities
        if not self._lends_resources:
            return line
        return dumps({**body, "result": {**result, "capabilities": {**capabilities, "resources": {}}}})

    def _listed(self, asked: Asked, line: str, body: Body, result: dict[str, Any]) -> str:
        """Learns of the tools, and puts the proxy's own at the end of the last page of them."""
        self._catalog.learn(result["tools"], anew="cursor" not in params_of(asked.body))
        if result.get("nextCursor") is not None:
            return line
        unknown = sorted(set(self._rules.by_name) - set(self._catalog.names))
        if unknown:
            log(f"the server has no tool '{unknown[0]}', which the configuration has a rule for")
        own = page_tool.description(self._catalog.page_tool, self._config.keep_minutes)
        return dumps({**body, "result": {**result, "tools": [*result["tools"], own]}})

    async def _page(self, asked: Asked, line: str, result: dict[str, Any]) -> dict[str, Any] | None:
        """The result to deliver; None for the server's own."""
        name = _name_of(asked.body)
        rule = self._rules.of(name)
        if rule is None:
            return None
        files = await self._files(asked)
        if not files and len(line) <= _AT_ONCE and rule.counter.count(line) <= rule.budget:
            return None
        further = Further(self.store.new_id(), self._catalog.page_tool, self._links or is_modern(asked.body))
        query = query_of(params_of(asked.body).get("arguments"), self._goal(asked.body))
        found = partial(_unlisted, rule, files)
        work = partial(first_page, result, query, rule, self._catalog.fits(name), further, found)
        made: FirstPage | None = await self._presser.result(
            self._presser.submit(work), self._config.page_timeout_s
        )
        if made is None:
            return None
        if made.pages is not None and not self.store.put(further.id, made.pages, made.size):
            log(f"{_told(asked)} is delivered as it is: keep_mebibytes is too small for its further pages")
            return None
        return made.result

    async def _files(self, asked: Asked) -> Sequence[str]:
        """What the tool may have missed; nothing where it cannot be found in time."""
        if asked.files is None:
            return []
        try:
            return await self._finding.result(asked.files, self._config.page_timeout_s)
        except Exception as error:
            log(f"no files are added to {_told(asked)}: {type(error).__name__}: {error}")
            return []

    def _read(self, request: Body, uri: str) -> str:
        try:
            contents = self._tool.read(uri)
        except page_tool.NoResourceError as error:
            return refusal(request["id"], INVALID_PARAMS if is_modern(request) else NO_RESOURCE, str(error))
        return answer(request["id"], completed(request, {"contents": contents}, cacheable=True))

    def _goal(self, request: Body) -> str:
        goal = meta_of(request).get(GOAL_KEY)
        return goal if isinstance(goal, str) and goal.strip() else self._config.goal


def deadline(seconds: float) -> float:
    """The time so many seconds from now, as `Asked` takes it."""
    return monotonic() + seconds


def _unlisted(rule: Rule, files: Sequence[str], texts: Sequence[str]) -> list[str]:
    root = rule.finder.root if rule.finder else ""
    return unlisted(files, texts, root, rule.add)


def _name_of(call: Mapping[str, Any]) -> str:
    return str(params_of(call).get("name"))


def _told(asked: Asked) -> str:
    """An answer, for messages."""
    of_tool = f" of the tool '{_name_of(asked.body)}'" if asked.method == "tools/call" else ""
    return f"the result{of_tool} of {asked.method}"
