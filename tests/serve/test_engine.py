import asyncio
import threading
from contextlib import asynccontextmanager

import pytest
from firstpage.core.errors import InputError
from firstpage.serve.engine import Engine
from firstpage.serve.errors import ExpiredError, ModelError, OverloadedError
from firstpage.serve.metrics import Metrics
from firstpage.serve.queueing import Unit


class Doubling:
    """A model that doubles numbers; a number is as long as it is large. It waits where it is told to."""

    name = "doubling"

    def __init__(self):
        self.batches = []
        self.go = threading.Event()
        self.go.set()

    def encode(self, inputs):
        if "unreadable" in inputs:
            raise InputError("unreadable")
        return [Unit(number, abs(number) or 1, truncated=number > 900) for number in inputs]

    def run(self, works):
        self.batches.append(list(works))
        assert self.go.wait(10)
        if -13 in works:
            raise ZeroDivisionError("thirteen")
        return [2 * number for number in works]


@asynccontextmanager
async def engine(model=None, **settings):
    given = {"batch_tokens": 1000, "batch_units": 8, "waiting": 100, "wait_s": 60.0} | settings
    async with Engine(model or Doubling(), Metrics(), **given) as made:
        yield made


def promise(test):
    """Runs an asynchronous test."""

    def run(*arguments):
        return asyncio.run(asyncio.wait_for(test(*arguments), 20))

    run.__name__ = test.__name__
    return run


async def until(condition):
    while not condition():
        await asyncio.sleep(0.005)


@promise
async def test_results_stand_in_the_order_of_the_inputs():
    async with engine() as made:
        numbers = [5, 400, 3, 999, 7, 3, 0]
        results, units = await made.run(numbers, 5)
        assert results == [2 * number for number in numbers]
        assert [unit.truncated for unit in units] == [False, False, False, True, False, False, False]


@promise
async def test_requests_at_the_same_time_share_batches_and_get_their_own_results():
    model = Doubling()
    model.go.clear()
    async with engine(model) as made:
        requests = [asyncio.create_task(made.run([number, number + 1], 5)) for number in range(1, 41, 2)]
        await until(lambda: made.waiting == 40)
        model.go.set()
        found = [(await request)[0] for request in requests]
    assert found == [[2 * number, 2 * number + 2] for number in range(1, 41, 2)]
    assert any(len(batch) == 8 for batch in model.batches)
    assert sum(map(len, model.batches)) == 40


@promise
async def test_nothing_asked_gives_nothing():
    async with engine() as made:
        assert await made.run([], 5) == ([], [])


@promise
async def test_what_is_late_is_given_up_and_leaves_nothing_behind():
    model = Doubling()
    model.go.clear()
    async with engine(model, batch_units=1) as made:
        with pytest.raises(ExpiredError, match=r"after 0\.05 s"):
            await made.run([1, 2, 3], 0.05)
        assert made.waiting == 0
        model.go.set()
        assert (await made.run([4], 5))[0] == [8]
    assert model.batches == [[3], [4]] or model.batches == [[1], [4]]


@promise
async def test_a_caller_that_leaves_frees_what_it_had_waiting():
    model = Doubling()
    model.go.clear()
    async with engine(model, batch_units=1) as made:
        leaving = asyncio.create_task(made.run([1] * 50, 5))
        await until(lambda: model.batches)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        assert made.waiting == 0
        model.go.set()
        await made.run([2], 5)
    assert len(model.batches) == 2


@promise
async def test_more_than_may_wait_is_refused_with_a_time_to_try_again():
    model = Doubling()
    model.go.clear()
    async with engine(model, waiting=10) as made:
        first = asyncio.create_task(made.run([1] * 25, 5))  # alone it may have more
        await until(lambda: made.waiting == 25)
        with pytest.raises(OverloadedError) as refused:
            await made.run([1], 5)
        assert int(refused.value.headers["Retry-After"]) >= 1
        model.go.set()
        await first
        await made.run([1], 5)


@promise
async def test_what_would_have_to_wait_too_long_is_refused():
    async with engine(wait_s=0.0001) as made:
        await made.run([1, 2, 3], 5)
        made.model.go.clear()
        first = asyncio.create_task(made.run([1] * 50, 5))
        await until(lambda: made.waiting == 50)
        with pytest.raises(OverloadedError):
            await made.run([1], 5)
        made.model.go.set()
        await first


@promise
async def test_of_a_batch_that_fails_only_the_unit_at_fault_fails():
    model = Doubling()
    model.go.clear()
    async with engine(model) as made:
        warm = asyncio.create_task(made.run([1], 5))
        await until(lambda: model.batches)
        good, bad = asyncio.create_task(made.run([12], 5)), asyncio.create_task(made.run([-13], 5))
        await until(lambda: made.waiting == 3)
        model.go.set()
        assert (await good)[0] == [24]
        with pytest.raises(ModelError, match=r"'doubling' failed: ZeroDivisionError: thirteen"):
            await bad
        await warm
        assert made.waiting == 0


@promise
async def test_input_that_cannot_be_read_is_named_and_stops_nothing():
    async with engine() as made:
        with pytest.raises(InputError, match="unreadable"):
            await made.run(["unreadable"], 5)
        assert (await made.run([1], 5))[0] == [2]
        assert made.waiting == 0


@promise
async def test_several_workers_run_at_the_same_time():
    model = Doubling()
    model.go.clear()
    async with engine(model, workers=2, batch_units=1) as made:
        both = asyncio.create_task(made.run([1, 2], 5))
        await until(lambda: len(model.batches) == 2)
        model.go.set()
        await both


def test_queue_padding_and_truncation_are_measured():
    metrics = Metrics()

    @promise
    async def work():
        async with Engine(Doubling(), metrics, batch_tokens=4000, batch_units=8, waiting=9, wait_s=9) as made:
            await made.run([1000, 990], 5)

    work()
    text = metrics.text().decode()
    assert "te_batch_next_size_count 1.0" in text
    assert "firstpage_padding_tokens_total 10.0" in text
    assert "firstpage_truncations_total 2.0" in text
    assert 'te_queue_size{model="doubling"} 0.0' in text
