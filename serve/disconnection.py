"""Work for a client ends when the client is gone."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class GoneError(Exception):
    """The client hung up before its answer was there."""


async def unless_gone(receive: Callable[[], Awaitable[Any]], work: Coroutine[Any, Any, T]) -> T:
    """The result of ``work``, which is cancelled when the client hangs up.

    Args:
        receive: of the request, whose body has been read: the next thing to come is that it is gone.
        work: for the client.

    Raises:
        GoneError: the client hung up.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(receive())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise GoneError
    finally:
        for one in (task, gone):
            if not one.done():
                one.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)
