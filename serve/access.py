"""What every request passes before it is looked at, and what is written down when it is over.

The body is read whole here, within its limits of size and time. It comes before the framework, so that a
request that must not be there costs next to nothing.
"""

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from .config import ServeConfig
from .disconnection import GoneError
from .errors import ServiceError, TooLargeError, TooSlowError, UnauthorizedError
from .keys import Keys
from .metrics import Metrics

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

OPEN = frozenset({"/", "/page.css", "/page.js", "/health", "/ready"})  # without a key
_CLIENT_GONE = 499  # as nginx logs it; nobody gets it
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
        self._limit = int(config.body_mebibytes * 1024 * 1024)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        asked = headers.get("x-request-id", "")
        id = asked if _ID.fullmatch(asked) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = id
        start, status = perf_counter(), _CLIENT_GONE

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = id
            await send(message)

        try:
            await self._app(scope, await self._received(scope["path"], headers, receive), answer)
        except ServiceError as error:
            await failure(error)(scope, receive, answer)
        except GoneError:
            pass
        finally:
            self._note(scope, id, status, perf_counter() - start)

    async def _received(self, path: str, headers: Headers, receive: Receive) -> Receive:
        """Gives the body, once it is all there, and then whatever else comes.

        Raises:
            ServiceError: no key, or the body is too large or too slow.
        """
        if path not in OPEN and not self._keys.admit(headers.get("authorization", "")):
            self._metrics.rejections.labels("key").inc()
            raise UnauthorizedError
        try:
            async with asyncio.timeout(self._config.receive_s):
                body = await self._body(receive)
        except TimeoutError:
            self._metrics.rejections.labels("slow").inc()
            raise TooSlowError(
                f"the request was not there whole after {self._config.receive_s:g} s; send it faster"
            ) from None
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def following() -> Message:
            return waiting.pop() if waiting else await receive()

        return following

    async def _body(self, receive: Receive) -> bytes:
        parts, size, more = [], 0, True
        while more and size <= _SWALLOWED * self._limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise GoneError
            size += len(message.get("body", b""))
            if size <= self._limit:
                parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        if size > self._limit:
            self._metrics.rejections.labels("body").inc()
            raise TooLargeError(
                f"the body has more than the {self._config.body_mebibytes:g} MiB that this service takes; "
                "send it in parts"
            )
        return b"".join(parts)

    def _note(self, scope: MutableMapping[str, Any], id: str, status: int, seconds: float) -> None:
        if scope["path"] not in OPEN:
            self._metrics.count(scope["path"] if scope.get("route") else "other", status, seconds)
        log(
            "request", request_id=id, method=scope["method"], path=scope["path"], status=status,
            milliseconds=round(1000 * seconds, 1), client=(scope.get("client") or ("",))[0],
        )  # fmt: skip


def failure(error: ServiceError) -> JSONResponse:
    """The answer that says no."""
    return JSONResponse(
        {"error": str(error), "error_type": error.kind}, status_code=error.status, headers=error.headers
    )


def log(event: str, **facts: Any) -> None:
    """Writes a line of JSON to standard error; one that cannot be written is lost."""
    line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
    with suppress(OSError, ValueError):
        sys.stderr.write(json.dumps(line) + "\n")
        sys.stderr.flush()
