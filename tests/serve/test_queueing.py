from firstpage.serve.queueing import Queue, Unit
from hypothesis import given
from hypothesis import strategies as st

LENGTHS = st.lists(st.integers(1, 600), max_size=40)


def units(*lengths):
    return [Unit(number, length) for number, length in enumerate(lengths)]


def drained(queue):
    batches = []
    while batch := queue.batch():
        batches.append(batch)
    return batches


def test_a_batch_takes_those_nearest_in_length():
    queue = Queue(batch_tokens=400, batch_units=4)
    queue.add(units(10, 500, 90, 12, 100, 95, 9))
    assert [sorted(unit.length for unit in batch) for batch in drained(queue)] == [
        [500],
        [12, 90, 95, 100],
        [9, 10],
    ]


def test_what_is_longer_than_a_batch_goes_alone():
    queue = Queue(batch_tokens=100, batch_units=8)
    queue.add(units(300, 20, 200))
    assert [[unit.length for unit in batch] for batch in drained(queue)] == [[300], [200], [20]]


def test_a_request_of_many_documents_does_not_stall_a_small_one():
    queue = Queue(batch_tokens=1000, batch_units=10)
    large = queue.add(units(*[100] * 500))
    queue.batch()
    small = queue.add(units(30))
    batch = queue.batch() + queue.batch()
    assert any(unit.share is small for unit in batch)
    assert any(unit.share is large for unit in batch)


def test_many_small_requests_do_not_keep_a_large_one_waiting():
    queue = Queue(batch_tokens=100, batch_units=1)
    large = queue.add(units(*[100] * 3))
    served = 0
    for _ in range(60):
        queue.add(units(100))
        queue.add(units(100))
        served += sum(unit.share is large for unit in queue.batch())
    assert served == 3


def test_of_requests_of_one_size_the_first_that_came_is_done_first():
    queue = Queue(batch_tokens=10, batch_units=1)
    first, second = queue.add(units(10, 10)), queue.add(units(10, 10))
    assert [batch[0].share for batch in drained(queue)] == [first, first, second, second]


def test_a_smaller_request_that_came_later_is_done_before_a_large_one():
    queue = Queue(batch_tokens=10, batch_units=1)
    large = queue.add(units(*[10] * 5))
    queue.batch()
    small = queue.add(units(10, 10))
    assert [batch[0].share for batch in drained(queue)] == [small] * 2 + [large] * 4


def test_what_is_dropped_is_in_no_batch():
    queue = Queue(batch_tokens=1000, batch_units=10)
    kept, dropped = queue.add(units(1, 2, 3)), queue.add(units(1, 2, 3))
    queue.drop(dropped)
    assert len(queue) == 3
    assert all(unit.share is kept for batch in drained(queue) for unit in batch)
    queue.drop(kept)  # has nothing left, which is no fault


@given(st.lists(LENGTHS, max_size=6), st.integers(1, 2000), st.integers(1, 16), st.data())
def test_every_unit_is_in_one_batch_and_no_batch_is_too_large(requests, tokens, most, data):
    queue = Queue(tokens, most)
    shares = [queue.add(units(*lengths)) for lengths in requests]
    dropped = data.draw(st.sets(st.sampled_from(range(len(shares))))) if shares else set()
    for number in dropped:
        queue.drop(shares[number])
    batches = drained(queue)
    for batch in batches:
        assert len(batch) <= most
        assert len(batch) == 1 or max(unit.length for unit in batch) * len(batch) <= tokens
    found = [id(unit) for batch in batches for unit in batch]
    assert (
        len(found)
        == len(set(found))
        == len(queue) + sum(len(lengths) for number, lengths in enumerate(requests) if number not in dropped)
    )
