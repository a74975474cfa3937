"""What the routes share: work that ends with its client, answers in JSON, and the errors they may have."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse

from .disconnection import unless_gone
from .errors import TooLargeError, UnreadyError
from .forms import Failure
from .service import Service

T = TypeVar("T")

_COUNTED = ("texts", "documents", "input", "inputs", "rank_fields")  # keys of what is looked at one by one
TRUNCATED: dict[str, Any] = {
    "X-Truncated": {
        "description": "Of how many texts the model read only a part, as they were too long for it.",
        "schema": {"type": "integer"},
    }
}
FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": description}
    for status, description in {
        400: "The body is no JSON.",
        401: "The service asks for a key.",
        408: "The request did not arrive in time.",
        413: "The request is above a limit.",
        422: "The request is not of this form.",
        424: "The model failed.",
        429: "Too much waits already; the header Retry-After tells when to try again.",
        503: "The service starts, or is about to stop.",
        504: "The request's time was up.",
    }.items()
}


async def few(request: Request) -> None:
    """Refuses a request of too many documents before each of them is looked at.

    Raises:
        TooLargeError: it has more than the service takes.
    """
    service: Service = request.app.state.service
    with suppress(ValueError, RecursionError):  # which the framework tells of
        body = await request.json()  # parsed once
        for what in _COUNTED if isinstance(body, dict) else ():
            given, most = body.get(what), service.config.documents
            if isinstance(given, list) and len(given) > most:
                service.metrics.rejections.labels("documents").inc()
                raise TooLargeError(
                    f"{what}: {len(given)} are more than the {most} of a request; send them in parts"
                )


async def done(request: Request, work: Callable[[Service], Coroutine[Any, Any, T]]) -> T:
    """The result of work for a request, given up when its client hangs up.

    Args:
        request: whose client waits.
        work: what the service shall do.

    Raises:
        UnreadyError: no model has answered yet.
        GoneError: the client hung up.
    """
    service: Service = request.app.state.service
    if not service.warm:
        raise UnreadyError("the service is not ready yet; try again in some seconds", {"Retry-After": "2"})
    return await unless_gone(request.receive, work(service))


def json_answer(content: Any, truncated: int = 0) -> JSONResponse:
    """An answer, which says of how many texts only a part was read."""
    return JSONResponse(content, headers={"X-Truncated": str(truncated)} if truncated else None)
