"""The scoring engine: many requests at once, one model, batches by tokens.

The event loop owns the queue, so nothing is locked; texts are made into tokens in threads of their own, and
a model runs in its own thread, of which it has as many as ``workers``.
"""

import asyncio
import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import perf_counter
from types import TracebackType
from typing import Any, Protocol

from ..core.errors import FirstpageError
from .errors import ExpiredError, ModelError, OverloadedError
from .metrics import Metrics
from .queueing import Queue, Unit

_READERS = 2  # threads that make texts into tokens
_FORGET = 0.9  # what is left of older batches in the pace
_LONGEST_WAIT = 60  # seconds, in Retry-After


class Model(Protocol):
    """What an engine runs.

    Attributes:
        name: shown in errors and ``/info``.
    """

    name: str

    def encode(self, inputs: Sequence[Any]) -> list[Unit]:
        """One unit an input, in their order; runs in several threads at once."""
        ...

    def run(self, works: Sequence[Any]) -> Iterable[Any]:
        """One result a unit's ``work``, none of them depending on what else is in the batch."""
        ...


class Engine:
    """Runs one model for many requests; an asynchronous context manager.

    Args:
        model: what runs.
        metrics: told of queue, batches and times.
        batch_tokens: of a batch, padding included.
        batch_units: of a batch.
        waiting: units that may wait or run; a single request may have more if it is the only one.
        wait_s: seconds that a request may have to wait for its turns, by the pace of late.
        workers: threads of the model.
    """

    def __init__(
        self,
        model: Model,
        metrics: Metrics,
        *,
        batch_tokens: int,
        batch_units: int,
        waiting: int,
        wait_s: float,
        workers: int = 1,
    ) -> None:
        self.model = model
        self._metrics = metrics
        self._queue = Queue(batch_tokens, batch_units)
        self._most, self._wait_s, self._workers = waiting, wait_s, workers
        self._batch_units = batch_units
        self._admitted: list[int] = []  # units of each request until all of its results are there
        self._spent = self._done = 0.0  # seconds and units of batches of late
        self._filled = asyncio.Event()
        self._promised: dict[Unit, tuple[asyncio.Future[Any], float]] = {}  # and since when
        self._readers = ThreadPoolExecutor(_READERS, f"encode {model.name}")
        self._threads = ThreadPoolExecutor(workers, f"run {model.name}")
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "Engine":
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._workers)]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def waiting(self) -> int:
        """Units that wait or run."""
        return sum(self._admitted)

    async def run(self, inputs: Sequence[Any], timeout_s: float) -> tuple[list[Any], list[Unit]]:
        """The result of each input, and what the model read of it.

        A caller that is cancelled frees what it had waiting; what runs already is run to its end.

        Args:
            inputs: what `Model.encode` takes.
            timeout_s: seconds until the results are of no use.

        Raises:
            OverloadedError: too much waits already.
            ExpiredError: the time is up.
            ModelError: the model raised.
        """
        with self._admission(len(inputs)):
            try:
                async with asyncio.timeout(timeout_s):
                    units = await self._encoded(inputs)
                    return await self._finished(units), units
            except TimeoutError:
                self._metrics.rejections.labels("timeout").inc()
                raise ExpiredError(
                    f"the result was not there after {timeout_s:g} s; send fewer or shorter documents"
                ) from None

    @contextmanager
    def _admission(self, count: int) -> Iterator[None]:
        """Counts the units of a request as long as they wait or run, if there is room for them."""
        # Turns are fair: until it has had its own, each other request has as many, and a batch.
        turns = sum(min(other, count + self._batch_units) for other in self._admitted)
        pace = self._spent / self._done / self._workers if self._done else 0.0
        full = self.waiting + count > self._most
        if self.waiting and (full or turns * pace > self._wait_s):
            self._metrics.rejections.labels("overloaded").inc()
            raise OverloadedError(min(_LONGEST_WAIT, max(1, math.ceil(self.waiting * pace))))
        self._admitted.append(count)
        self._metrics.queue_size.labels(self.model.name).set(self.waiting)
        try:
            yield
        finally:
            self._admitted.remove(count)  # any of that size
            self._metrics.queue_size.labels(self.model.name).set(self.waiting)

    async def _encoded(self, inputs: Sequence[Any]) -> list[Unit]:
        start = perf_counter()
        loop = asyncio.get_running_loop()
        try:
            units = await loop.run_in_executor(self._readers, self.model.encode, inputs)
        finally:
            self._metrics.tokenization.observe(perf_counter() - start)
        self._metrics.truncations.inc(sum(unit.truncated for unit in units))
        return units

    async def _finished(self, units: Sequence[Unit]) -> list[Any]:
        """The results of units, once they have had their turns."""
        loop, now = asyncio.get_running_loop(), perf_counter()
        results = [loop.create_future() for _ in units]
        self._promised |= {unit: (result, now) for unit, result in zip(units, results, strict=True)}
        share = self._queue.add(units)
        self._filled.set()
        try:
            return await asyncio.gather(*results)
        finally:
            self._queue.drop(share)
            for unit in units:
                self._promised.pop(unit, None)

    async def _work(self) -> None:
        """Runs one batch after another."""
        while True:
            while not (batch := self._queue.batch()):
                self._filled.clear()
                await self._filled.wait()
            await self._run(batch)

    async def _run(self, batch: Sequence[Unit]) -> None:
        """Runs a batch and hands its results over; of one that fails, each unit is tried alone."""
        start = perf_counter()
        waits = [start - self._promised[unit][1] for unit in batch if unit in self._promised]
        self._metrics.batch(batch, waits)
        try:
            results = await asyncio.get_running_loop().run_in_executor(
                self._threads, self.model.run, [unit.work for unit in batch]
            )
        except Exception as error:  # a model may raise anything
            if len(batch) > 1:
                for unit in batch:
                    await self._run([unit])
                return
            self._keep(batch[0], error)
            return
        self._learn(perf_counter() - start, len(batch))
        for unit, result in zip(batch, results, strict=True):
            self._keep(unit, result)

    def _keep(self, unit: Unit, result: Any) -> None:
        """Keeps what was promised, unless nobody waits for it any more."""
        future, _ = self._promised.get(unit, (None, 0.0))
        if future is None or future.done():
            return
        if isinstance(result, FirstpageError):
            future.set_exception(result)
        elif isinstance(result, Exception):
            kind = type(result).__name__
            future.set_exception(ModelError(f"the model '{self.model.name}' failed: {kind}: {result}"))
        else:
            future.set_result(result)

    def _learn(self, seconds: float, units: int) -> None:
        self._metrics.inference.observe(seconds)
        self._spent, self._done = _FORGET * self._spent + seconds, _FORGET * self._done + units
