"""What every request passes before it is looked at, and what is written down when it is over.

The body is read whole here, within its limits of size and time. It comes before the framework, so that a
request that must not be there costs next to nothing.
"""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from .config import ServeConfig
from .disconnection import GoneError
from .errors import (
    OverloadedError,
    ServiceError,
    TooLargeError,
    TooSlowError,
    UnauthorizedError,
    UnreadyError,
)
from .keys import Keys
from .metrics import Metrics

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

OPEN = frozenset({"/", "/page.css", "/page.js", "/health", "/ready"})  # without a key
CLIENT_GONE = 499  # as nginx logs it; nobody gets it
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_SWALLOWED = 8  # times the limit of a body that is read and dropped, so that its sender sees the answer


class Access:
    """Request ids, keys, limits, the log and the counts of requests, around an application.

    Args:
        app: what answers.
        config: the limits.
        keys: who may ask.
        metrics: told of every request.
    """

    def __init__(self, app: App, config: ServeConfig, keys: Keys, metrics: Metrics) -> None:
        self._app, self._config, self._keys, self._metrics = app, config, keys, metrics
        self._limit, self._most = (int(config.body_mebibytes * 2**20), int(config.bodies_mebibytes * 2**20))
        self._held = 0  # bytes of bodies that have come and are not answered yet

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        asked = headers.get("x-request-id", "")
        id = asked if _ID.fullmatch(asked) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = id
        start, status = perf_counter(), CLIENT_GONE

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = id
            await send(message)

        try:
            self._admit(scope["path"], headers)
            async with self._body(receive) as body:
                await self._app(scope, _first(body, receive), answer)
        except ServiceError as error:
            await failure(error)(scope, receive, answer)
        except GoneError:
            pass
        except asyncio.CancelledError:  # the time to drain is over
            if status != CLIENT_GONE:
                raise
            told = UnreadyError("the service stopped before the result was there; send it again")
            await failure(told)(scope, receive, answer)
        finally:
            self._note(scope, id, status, perf_counter() - start)

    def _admit(self, path: str, headers: Headers) -> None:
        if path not in OPEN and not self._keys.admit(headers.get("authorization", "")):
            self._metrics.rejections.labels("key").inc()
            raise UnauthorizedError

    @asynccontextmanager
    async def _body(self, receive: Receive) -> AsyncIterator[bytes]:
        """The body, once it is all there; it counts as held until the request is answered.

        Raises:
            ServiceError: it is too large or too slow, or too much is held already.
        """
        parts: list[bytes] = []
        try:
            try:
                async with asyncio.timeout(self._config.receive_s):
                    await self._read(parts, receive)
            except TimeoutError:
                self._metrics.rejections.labels("slow").inc()
                raise TooSlowError(
                    f"the request was not there whole after {self._config.receive_s:g} s; send it faster"
                ) from None
            parts[:] = [b"".join(parts)]  # and not twice in memory
            yield parts[0]
        finally:
            self._held -= sum(map(len, parts))

    async def _read(self, parts: list[bytes], receive: Receive) -> None:
        """Reads a body to its end, also one that is too large, so that its sender hears of it."""
        size, more, refused = 0, True, False
        while more and size <= _SWALLOWED * self._limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise GoneError
            part, more = message.get("body", b""), message.get("more_body", False)
            size += len(part)
            refused = refused or size > self._limit or self._held + len(part) > self._most
            if not refused:
                parts.append(part)
                self._held += len(part)
        if size > self._limit:
            self._metrics.rejections.labels("body").inc()
            raise TooLargeError(
                f"the body has more than the {self._config.body_mebibytes:g} MiB that this service takes; "
                "send it in parts"
            )
        if refused:
            self._metrics.rejections.labels("bodies").inc()
            raise OverloadedError(1)

    def _note(self, scope: MutableMapping[str, Any], id: str, status: int, seconds: float) -> None:
        if scope["path"] not in OPEN:
            self._metrics.count(scope["path"] if scope.get("route") else "other", status, seconds)
        log(
            "request", request_id=id, method=scope["method"], path=scope["path"], status=status,
            milliseconds=round(1000 * seconds, 1), client=(scope.get("client") or ("",))[0],
        )  # fmt: skip


def _first(body: bytes, receive: Receive) -> Receive:
    """Gives the body, and then whatever else comes."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def following() -> Message:
        return waiting.pop() if waiting else await receive()

    return following


def failure(error: ServiceError) -> JSONResponse:
    """The answer that says no, on one line."""
    answer = {"error": " ".join(str(error).splitlines()), "error_type": error.kind}
    return JSONResponse(answer, status_code=error.status, headers=error.headers)


def log(event: str, **facts: Any) -> None:
    """Writes a line of JSON to standard error; one that cannot be written is lost."""
    line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
    with suppress(OSError, ValueError):
        sys.stderr.write(json.dumps(line) + "\n")
        sys.stderr.flush()
