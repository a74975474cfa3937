"""Carries messages between a client and a server until one of them ends."""

import json
from collections import OrderedDict
from contextlib import suppress
from time import monotonic
from typing import Any

import anyio
from anyio.abc import TaskGroup

from .desk import Asked, Desk, deadline
from .messages import (
    BROKEN_ANSWER,
    ENDED,
    INVALID_REQUEST,
    PARSE_ERROR,
    TOO_LATE,
    Body,
    dumps,
    flaw_of,
    is_answer,
    is_request,
    key_of,
    meta_of,
    params_of,
    read,
    refusal,
)
from .side import ClientSide, InterruptedSideError, SendError, Side, log

_UNTIMED = frozenset({"subscriptions/listen"})  # is answered when it ends
_LAST_LINES_S = 1.0  # for the server to take what the client sent before it hung up
_REMEMBERED = 1_000  # requests that were answered with an error for the server, whose answers come too late
_SHOWN = 200  # characters of a broken line that a message shows


class Relay:
    """Passes on what comes, each line as it came unless the desk has another.

    Every request of the client is answered: by the server, by the desk, or with an error that says why not.

    Args:
        client: one side; where it hangs up, all ends.
        server: the other.
        desk: looks at what passes.
        timeout_s: seconds that the server may take to answer a request or to report progress on it.
    """

    def __init__(self, client: ClientSide, server: Side, desk: Desk, timeout_s: float) -> None:
        self._client, self._server, self._desk, self._timeout_s = client, server, desk, timeout_s
        self._asked: dict[str, Asked] = {}
        self._late: OrderedDict[str, None] = OrderedDict()
        self._asking: set[str] = set()  # requests of the server that the client has not answered
        self._server_ended = False

    async def run(self) -> bool:
        """Carries messages.

        Returns:
            Whether the server ended, and not the client.
        """
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, tasks)
            tasks.start_soon(self._from_server, tasks)
            tasks.start_soon(self._hang_up, tasks)
            await self._from_client()
            tasks.cancel_scope.cancel()
        return self._server_ended

    async def _hang_up(self, tasks: TaskGroup) -> None:
        """Ends the relay after the client, even where the server does not take its last lines."""
        await self._client.gone()
        await anyio.sleep(_LAST_LINES_S)
        tasks.cancel_scope.cancel()

    async def _from_client(self) -> None:
        """Returns when the client has hung up."""
        while (line := await self._client.receive()) is not None:
            if not line.strip():
                continue
            try:
                body = read(line)
            except json.JSONDecodeError as error:
                log(f"the client sent what is no JSON ({error}): {line[:_SHOWN]}")
                await self._client.send(refusal(None, PARSE_ERROR, f"the message is no JSON: {error}"))
                continue
            except ValueError:  # the server may have another reader
                body = None
            await self._pass_on(line, body)

    async def _pass_on(self, line: str, body: Any) -> None:
        """Answers a message of the client, or sends it to the server."""
        if is_request(body):
            if reply := self._reply(body):
                await self._client.send(reply)
                return
            self._expect(body)
        elif is_answer(body):
            self._asking.discard(key_of(body["id"]))
        elif isinstance(body, dict) and body.get("method") == "notifications/cancelled":
            self._asked.pop(key_of(params_of(body).get("requestId")), None)
        try:
            await self._server.send(line)
        except SendError as error:
            if is_request(body) and self._asked.pop(key_of(body["id"]), None) is not None:
                await self._client.send(refusal(body["id"], INVALID_REQUEST, f"the MCP server {error}"))
            else:
                log(f"a message is lost, as the server {error}")

    def _reply(self, request: Body) -> str | None:
        """The desk's own answer; None if the request is for the server."""
        try:
            return self._desk.reply(request)
        except Exception as error:  # one request is lost, and not the proxy
            log(f"an error in answering {request['method']}: {type(error).__name__}: {error}")
            return refusal(request["id"], BROKEN_ANSWER, f"unforeseen, {type(error).__name__}: {error}")

    def _expect(self, request: Body) -> None:
        key = key_of(request["id"])
        self._late.pop(key, None)  # the id is used anew
        untimed = request["method"] in _UNTIMED
        asked = Asked(request, float("inf") if untimed else deadline(self._timeout_s))
        self._asked[key] = asked
        try:
            self._desk.begin(asked)
        except Exception as error:  # the request itself is fine
            log(f"an error in looking for files: {type(error).__name__}: {error}")

    async def _from_server(self, tasks: TaskGroup) -> None:
        """Ends the relay when the server has ended and everything that it said is delivered."""
        async with anyio.create_task_group() as pages:
            while True:
                try:
                    line = await self._server.receive()
                except InterruptedSideError as error:
                    await self.fail(f"the MCP server {error}")
                    continue
                if line is None:
                    break
                if line.strip():
                    await self._return(line, pages)
        self._server_ended = True
        tasks.cancel_scope.cancel()

    async def fail(self, why: str) -> None:
        """Answers all that the server has not answered, and will not any more."""
        for key in list(self._asked):
            await self._client.send(refusal(self._asked.pop(key).body["id"], ENDED, why))

    async def _return(self, line: str, pages: TaskGroup) -> None:
        """Delivers a message of the server."""
        try:
            body = read(line)
        except json.JSONDecodeError as error:
            log(f"the server sent what is no JSON ({error}), which is left out: {line[:_SHOWN]}")
            return
        except ValueError:  # the client may have another reader
            body = None
        if is_answer(body):
            await self._answer(line, body, pages)
            return
        if is_request(body):
            self._asking.add(key_of(body["id"]))
        elif isinstance(body, dict):
            self._notice(body)
        elif isinstance(body, list):  # a batch, which the protocol of 2025-03-26 had
            for one in filter(is_answer, body):
                self._asked.pop(key_of(one["id"]), None)
        elif body is not None:
            log(f"the server sent what is no message, which is left out: {line[:_SHOWN]}")
            return
        await self._client.send(line)

    async def _answer(self, line: str, body: Body, pages: TaskGroup) -> None:
        key = key_of(body["id"])
        asked = self._asked.pop(key, None)
        if asked is None:
            if key in self._late:
                del self._late[key]
                log(f"the answer to request {key} came too late and is left out")
            else:  # the client cancelled it, or knows more of it than the proxy
                await self._client.send(line)
        elif flaw := flaw_of(body):
            log(f"the answer to {asked.method} breaks the protocol, as {flaw}: {line[:_SHOWN]}")
            said = f"the MCP server's answer to {asked.method} breaks the protocol: {flaw}"
            await self._client.send(refusal(asked.body["id"], BROKEN_ANSWER, said))
        elif self._desk.is_slow(asked):
            pages.start_soon(self._deliver, asked, line, body)
        else:
            await self._deliver(asked, line, body)

    async def _deliver(self, asked: Asked, line: str, body: Body) -> None:
        await self._client.send(await self._desk.answered(asked, line, body))

    def _notice(self, notification: Body) -> None:
        """Learns from the server that it works on a request, or no longer asks something itself."""
        method, params = notification.get("method"), params_of(notification)
        if method == "notifications/cancelled":
            self._asking.discard(key_of(params.get("requestId")))
        if method == "notifications/progress":
            self._prolong(params.get("progressToken"))

    def _prolong(self, token: Any) -> None:
        for asked in self._asked.values():
            if "progressToken" in (meta := meta_of(asked.body)) and key_of(meta["progressToken"]) == key_of(
                token
            ):
                asked.until = max(asked.until, deadline(self._timeout_s))

    async def _watch(self, tasks: TaskGroup) -> None:
        """Answers what the server leaves unanswered for too long, and drops pages that are too old."""
        while True:
            await anyio.sleep(min(1.0, self._timeout_s / 4))
            self._desk.store.sweep()
            for key, asked in list(self._asked.items()):
                if self._asking:  # the server may wait for the client, who may wait for a person
                    asked.until = max(asked.until, deadline(self._timeout_s))
                elif asked.until <= monotonic() and self._asked.pop(key, None) is not None:
                    await self._give_up(key, asked, tasks)

    async def _give_up(self, key: str, asked: Asked, tasks: TaskGroup) -> None:
        self._late[key] = None
        while len(self._late) > _REMEMBERED:
            self._late.popitem(last=False)
        said = f"the MCP server did not answer {asked.method} within {self._timeout_s:g} seconds"
        log(said)
        await self._client.send(refusal(asked.body["id"], TOO_LATE, said))
        if asked.method != "initialize":  # which must not be cancelled
            tasks.start_soon(self._cancel, asked, said)  # the server may not even take that

    async def _cancel(self, asked: Asked, why: str) -> None:
        params = {"requestId": asked.body["id"], "reason": why}
        with suppress(SendError):
            await self._server.send(
                dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
            )
