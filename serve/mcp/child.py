"""An MCP server that the proxy starts: a process that speaks over its standard input and output."""

import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import Process

from ...core.errors import InputError
from .lines import Lines
from .side import SendError, log

_PATIENCE = 1.0  # seconds for the server to end by itself once nobody speaks to it, and again once told to
_LOOK = 0.2  # seconds between looks at whether it lives, while it says nothing
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class Child:
    """The process as a side of the proxy; `started` makes it.

    Args:
        process: of the server.
        longest: bytes of a message.
    """

    def __init__(self, process: Process, longest: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._input, self._output = process, process.stdin, process.stdout
        self._lines = Lines(longest)
        self._came: deque[str] = deque()
        self._sending = anyio.Lock()

    async def receive(self) -> str | None:
        """The next line of its standard output; None once it has ended, or closed it."""
        while not self._came:
            chunk = await self._chunk()
            if not chunk:
                return None
            for line in self._lines.feed(chunk):
                if line is None:
                    log("the server sent a message above message_mebibytes, which is left out")
                else:
                    self._came.append(line)
        return self._came.popleft()

    async def send(self, line: str) -> None:
        """Writes a line to its standard input.

        Raises:
            SendError: it does not read it any more.
        """
        try:
            async with self._sending:
                await self._input.send(line.encode("utf-8", "surrogateescape") + b"\n")
        except _CLOSED:
            raise SendError("does not read its input any more") from None

    async def ending(self) -> str:
        """How it ended, as the end of a sentence."""
        if not await self._ended(_PATIENCE):
            return "closed its output"
        status = self._process.returncode or 0
        if status >= 0:
            return f"ended with exit status {status}"
        with suppress(ValueError):
            return f"was ended by the signal {signal.Signals(-status).name}"
        return f"was ended by the signal {-status}"

    async def stop(self) -> None:
        """Ends it as the protocol says: by closing its input, else by signals to it and what it started."""
        crashed = self._process.returncode is not None
        with anyio.CancelScope(shield=True):
            with suppress(*_CLOSED):
                await self._input.aclose()
            if await self._ended(_PATIENCE) and not crashed:
                return  # and what it left running, it left on purpose
            self._signal(signal.SIGTERM)
            await self._ended(_PATIENCE)
            self._signal(_KILL)
            await self._ended(_PATIENCE)

    def _signal(self, number: int) -> None:
        """Signals the process and all that it started, which are a group of their own."""
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.terminate()
            else:
                os.killpg(self._process.pid, number)

    async def _chunk(self) -> bytes:
        """Some bytes of its output; none once there are no more.

        What it started may hold the output open after its own end, so that is looked for too.
        """
        while True:
            has_ended = self._process.returncode is not None
            with anyio.move_on_after(_LOOK) as scope:
                try:
                    return await self._output.receive()
                except (anyio.EndOfStream, *_CLOSED):
                    return b""
            if scope.cancelled_caught and has_ended:
                return b""

    async def _ended(self, seconds: float) -> bool:
        """Whether it has ended, or does within these seconds."""
        with anyio.move_on_after(seconds):
            while self._process.returncode is None:
                await anyio.sleep(0.01)
        return self._process.returncode is not None


@asynccontextmanager
async def started(
    command: Sequence[str], env: Mapping[str, str], cwd: str, longest: int
) -> AsyncIterator[Child]:
    """Starts a server and ends it at the end; what it writes to standard error goes to the proxy's.

    Args:
        command: that starts it.
        env: variables besides the proxy's own.
        cwd: folder to start it in; the proxy's own if empty.
        longest: bytes of a message.

    Raises:
        InputError: the command cannot be run.
    """
    try:
        process = await anyio.open_process(
            list(command), env={**os.environ, **env}, cwd=cwd or None, stderr=None, start_new_session=True
        )
    except (OSError, ValueError) as error:  # a NUL in the command
        told = getattr(error, "strerror", None) or error
        raise InputError(
            f"the MCP server cannot be started: '{command[0]}': {told}; correct the command"
        ) from error
    child = Child(process, longest)
    try:
        yield child
    finally:
        await child.stop()
        with anyio.CancelScope(shield=True), anyio.move_on_after(_PATIENCE):
            await child._output.aclose()
