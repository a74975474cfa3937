"""Runs the proxy between the process that started it and the server that its configuration names."""

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup

from ...core.errors import FirstpageError, RunError
from .catalog import Catalog
from .child import Child, started
from .config import MEBIBYTE, ProxyConfig
from .desk import Desk
from .relay import Relay
from .side import Side
from .standard import Standard, claimed


def run(config: ProxyConfig) -> int:
    """Carries messages until the client hangs up.

    Args:
        config: as read.

    Returns:
        0; or, where a signal ended it, 128 and the signal's number.

    Raises:
        InputError: the configuration names something that is not there.
        RunError: the server ended.
    """
    catalog = Catalog()
    desk = Desk(config, catalog)
    with claimed() as (reading, writing):
        try:
            return anyio.run(_run, config, desk, catalog, reading, writing)
        except BaseExceptionGroup as errors:
            raise _own(errors) from errors


async def _run(config: ProxyConfig, desk: Desk, catalog: Catalog, reading: int, writing: int) -> int:
    longest = int(config.message_mebibytes * MEBIBYTE)
    got: list[int] = []
    why = ""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_by_signal, got, tasks)
        async with _server(config, catalog, longest) as server:
            relay = Relay(Standard(reading, writing, longest), server, desk, config.timeout_s)
            if await relay.run() and isinstance(server, Child):
                why = f"the MCP server '{config.server}' {await server.ending()}"
                await relay.fail(why)
        tasks.cancel_scope.cancel()
    if why:
        raise RunError(f"{why}; see what it wrote above")
    return 128 + got[0] if got else 0


async def _end_by_signal(got: list[int], tasks: TaskGroup) -> None:
    """Ends the server too where the proxy is told to end."""
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for number in signals:
            got.append(number)
            tasks.cancel_scope.cancel()
            return


@asynccontextmanager
async def _server(config: ProxyConfig, catalog: Catalog, longest: int) -> AsyncIterator[Side]:
    place = config.server
    if place.url:
        from .remote import connected  # the SDK takes long to import

        async with connected(place.url, place.headers or {}, longest, catalog.input_schema) as remote:
            yield remote
    else:
        async with started(place.command, place.env or {}, place.cwd, longest) as child:
            yield child


def _own(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that is meant for the person who runs the proxy, where there is one among them."""
    while True:
        error = errors.exceptions[0]
        if not isinstance(error, BaseExceptionGroup):
            return error if isinstance(error, FirstpageError) else errors
        errors = error
