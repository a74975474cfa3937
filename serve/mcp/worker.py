"""A thread for what would keep messages waiting: making pages, searching files, writing to a slow client."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class Worker:
    """Does one thing after another; nobody has to wait for it, not even the end of the program.

    What uses SQLite stays in the thread that opened it, so each kind of work has a worker of its own.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._given_up: Future[Any] | None = None
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def submit(self, work: Callable[[], T]) -> "Future[T]":
        """Puts work at the end of the queue."""
        future: Future[T] = Future()
        self._waiting.put((future, work))
        return future

    async def result(self, future: "Future[T]", seconds: float | None = None) -> T:
        """What submitted work gives.

        Args:
            future: of the work.
            seconds: to wait for it at the most; for ever if None.

        Raises:
            TimeoutError: it takes longer; it is not begun any more, or goes on for nothing. As long as it
                does, the same is said at once of whatever comes after it.
        """
        if self._given_up is not None and not self._given_up.done():
            future.cancel()
            raise TimeoutError("the work before it has not ended yet")
        with anyio.move_on_after(seconds):
            return await asyncio.wrap_future(future)
        if not future.cancel() and not future.done():
            self._given_up = future
        raise TimeoutError(f"it took longer than {seconds:g} seconds")

    async def run(self, work: Callable[[], T]) -> T:
        """Submits work and waits for what it gives."""
        return await self.result(self.submit(work))

    def _work(self) -> None:
        while True:
            future, work = self._waiting.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:  # it is for whoever waits for the result
                future.set_exception(error)
            del future, work  # the next may be long in coming
