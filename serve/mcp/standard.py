"""The client of the proxy: the process that started it, over standard input and output."""

import asyncio
import os
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path

from .lines import Lines
from .side import log
from .worker import Worker

_CHUNK = 1 << 16
_AHEAD = 100  # lines that are read before they are asked for


class Standard:
    """Standard input and output as a side of the proxy; `claimed` makes it.

    Threads read and write, since a pipe that keeps one waiting must keep neither messages nor the end of
    the program waiting.

    Args:
        reading: descriptor to read lines from.
        writing: descriptor to write lines to.
        longest: bytes of a message.
    """

    def __init__(self, reading: int, writing: int, longest: int) -> None:
        self._reading, self._writing = reading, writing
        self._lines = Lines(longest)
        self._loop = asyncio.get_running_loop()
        self._came: asyncio.Queue[str | None] = asyncio.Queue(_AHEAD)
        self._gone = asyncio.Event()
        self._writer = Worker("client")
        threading.Thread(target=self._read, name="client", daemon=True).start()

    async def receive(self) -> str | None:
        """The next line; None once the client has hung up."""
        return await self._came.get()

    async def gone(self) -> None:
        """Returns once the client has hung up; lines from before may still be there."""
        await self._gone.wait()

    async def send(self, line: str) -> None:
        """Writes a line; one that the client does not take any more is lost."""
        data = line.encode("utf-8", "surrogateescape") + b"\n"
        await self._writer.run(lambda: self._write(data))

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self._reading, _CHUNK)
            except OSError:
                chunk = b""
            for line in self._lines.feed(chunk):
                if line is None:
                    log("the client sent a message above message_mebibytes, which is left out")
                else:
                    self._put(line)
            if not chunk:
                with suppress(RuntimeError):  # the proxy has ended
                    self._loop.call_soon_threadsafe(self._gone.set)
                self._put(None)
                return

    def _put(self, line: str | None) -> None:
        put = self._came.put(line)
        try:
            asyncio.run_coroutine_threadsafe(put, self._loop).result()
        except (RuntimeError, CancelledError):  # the proxy has ended
            put.close()

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._writing, left) :]
        except OSError:  # it has hung up, which reading tells too
            return


@contextmanager
def claimed() -> Iterator[tuple[int, int]]:
    """Descriptors of standard input and output that nothing else in this process reads or writes.

    What prints meanwhile prints to standard error, and what this process starts has no input.
    """
    reading, writing = os.dup(0), os.dup(1)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    try:
        yield reading, writing
    finally:
        os.dup2(reading, 0)
        os.dup2(writing, 1)
