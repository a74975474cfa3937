"""Troubles that other rerank servers have had, none of which may happen here."""

import math
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from firstpage.serve.cross_encoder import CrossEncoderModel, Pair

QUERY = "ba do ku"
TEXTS = ["ba do ku", "re", "", "mi fa ba", "re", "do ku " * 40]


@pytest.fixture(params=["value function", "cross-encoder"])
def either(request, server, cross):
    """A service with either kind of ranker."""
    return server if request.param == "value function" else cross


@pytest.fixture
def gate(tmp_path):
    """A file that is not there until a test makes it; until then a query that names it waits."""
    made = tmp_path / "gate"
    yield made
    made.touch()


def held(server, gate, texts=("a",), **given):
    """A request that is under way until the gate opens."""
    ask = {"query": f"until {gate}", "texts": list(texts), "return_text": True}
    return server.post("/rerank", ask, **given)


def waits(server, count, model="waiting"):
    """Returns once so many of the model's units are under way."""
    server.wait(lambda: server.measure(f'te_queue_size{{model="{model}"}}') == count)


def scores(server, texts, **keys):
    answer = server.post("/rerank", {"query": QUERY, "texts": texts} | keys)
    assert answer.status_code == 200, answer.text
    return {row["index"]: row["score"] for row in answer.json()}


def test_results_are_sorted_and_scores_are_from_0_to_1(either):
    rows = either.post("/rerank", {"query": QUERY, "texts": TEXTS}).json()
    found = [row["score"] for row in rows]
    assert found == sorted(found, reverse=True)
    assert all(0 <= score <= 1 for score in found)
    assert sorted(row["index"] for row in rows) == list(range(len(TEXTS)))


def test_top_n_is_honoured(either):
    ask = {"query": QUERY, "documents": TEXTS}
    every = either.post("/rerank", ask).json()["results"]
    assert either.post("/rerank", ask | {"top_n": 2}).json()["results"] == every[:2]
    assert either.post("/rerank", ask | {"top_n": 99}).json()["results"] == every


def test_the_logistic_function_is_applied_once(cross, cross_folder):
    model = CrossEncoderModel(cross_folder, "fp32", max_length=64)
    raw, unit = scores(cross, TEXTS, raw_scores=True), scores(cross, TEXTS)
    logits = model.run([one.work for one in model.encode([Pair(QUERY, text) for text in TEXTS])])
    assert [raw[index] for index in range(6)] == pytest.approx(list(logits), abs=1e-4)
    assert unit == pytest.approx({index: 1 / (1 + math.exp(-logit)) for index, logit in raw.items()})


def test_a_value_is_made_a_score_once(server):
    raw, unit = scores(server, TEXTS, raw_scores=True), scores(server, TEXTS)
    assert unit == pytest.approx({index: value / (1 + value) for index, value in raw.items()})
    assert max(unit.values()) > 0


def test_a_score_does_not_depend_on_the_other_documents(cross):
    together = scores(cross, TEXTS)
    for index, text in enumerate(TEXTS):
        assert scores(cross, [text])[0] == pytest.approx(together[index], abs=1e-5)


def test_one_document_and_tied_ones_are_not_stretched_to_0_and_1(cross):
    alone, tied = scores(cross, ["ba do"])[0], scores(cross, ["ba do"] * 3)
    assert 0 < alone < 1
    assert list(tied.values()) == pytest.approx([alone] * 3)


def test_duplicates_keep_their_own_index_and_ties_their_order(either):
    rows = either.post("/rerank", {"query": QUERY, "texts": ["re", "ba do ku", "re", "re"]}).json()
    assert [row["index"] for row in rows if row["index"] != 1] == [0, 2, 3]


def test_empty_documents_are_scored(either):
    assert set(scores(either, ["", "ba", ""])) == {0, 1, 2}
    assert set(scores(either, [""])) == {0}


def test_a_long_query_is_answered_and_said_to_be_cut(cross):
    answer = cross.post("/rerank", {"query": "ba do " * 50_000, "texts": TEXTS})
    assert answer.status_code == 200
    assert answer.headers["X-Truncated"] == "6"


def test_truncation_is_reported(cross):
    ask = {"query": QUERY, "documents": TEXTS}
    assert cross.post("/rerank", ask).json()["truncated"] == [5]
    short = cross.post("/rerank", {"query": QUERY, "texts": TEXTS[:3]})
    assert "X-Truncated" not in short.headers
    refused = cross.post("/rerank", {"query": QUERY, "texts": TEXTS, "truncate": False})
    assert refused.status_code == 422
    assert "document 5" in refused.json()["error"]
    assert scores(cross, TEXTS, truncation_direction="Left")[5] == scores(cross, TEXTS[5:], truncation_direction="left")[0]  # fmt: skip  # noqa: E501


def test_embeddings_report_truncation_too(server):
    answer = server.post("/embed", {"inputs": ["cache " * 3000, "cache"]})
    assert answer.headers["X-Truncated"] == "1"
    refused = server.post("/embed", {"inputs": ["cache", "cache " * 3000], "truncate": False})
    assert (refused.status_code, refused.json()["error"][:7]) == (422, "input 1")


def in_order_of_completion(server, long, short):
    """Sends long requests at once and, when they are under way, short ones; which ended when."""
    ended = []

    def ask(name, texts):
        assert server.post("/rerank", {"query": QUERY, "texts": texts}).status_code == 200
        ended.append(name)

    model = server.get("/info").json()["model_id"]
    with ThreadPoolExecutor(len(long)) as pool:
        asked = [pool.submit(ask, "long", texts) for texts in long]
        server.wait(lambda: server.measure(f'te_queue_size{{model="{model}"}}') >= len(long))
        for texts in short:
            ask("short", texts)
    assert all(one.result() is None for one in asked)
    return ended


def test_one_very_long_document_does_not_stall_everyone(server):
    long = "".join(f"word{number} " for number in range(500_000))
    ended = in_order_of_completion(server, [[long]], [["ba", "do"]] * 5)
    assert ended == ["short"] * 5 + ["long"]


def test_requests_of_a_thousand_documents_do_not_stall_small_ones(cross):
    long = [f"ba do {'ku re ' * 30} {number}" for number in range(1000)]
    ended = in_order_of_completion(cross, [long], [["ba", "do"]] * 3)
    assert ended == ["short"] * 3 + ["long"]


def test_results_do_not_depend_on_who_else_asks(cross):
    texts = [f"{'ba do re ' * (number % 9)}ku" for number in range(40)]
    alone = [scores(cross, [text])[0] for text in texts]
    with ThreadPoolExecutor(16) as pool:
        parts = list(pool.map(lambda start: scores(cross, texts[start : start + 5]), range(0, 40, 5)))
    together = [part[index] for part in parts for index in range(5)]
    assert together == pytest.approx(alone, abs=1e-5)


def test_memory_does_not_grow_with_each_long_text(either):
    def send(count):
        for number in range(count):
            texts = [f"{number} " + "ba do " * 60_000]
            assert either.post("/rerank", {"query": QUERY, "texts": texts}).status_code == 200

    send(10)
    before = either.resident()
    send(20)
    assert either.resident() < before + 40


def test_a_client_that_hangs_up_frees_its_work(start_waiting, gate):
    server = start_waiting(timeout_s=60)
    with ThreadPoolExecutor(2) as pool:
        two = [pool.submit(held, server, gate) for _ in range(2)]  # as many as run at once
        waits(server, 2)
        ask = {"query": f"until {gate}", "texts": ["a"]}
        for _ in range(3):
            with pytest.raises(httpx.TimeoutException):
                httpx.post(f"{server.url}/rerank", json=ask, timeout=0.3)
        waits(server, 2)
        gate.touch()
        assert [one.result().status_code for one in two] == [200, 200]
    waits(server, 0)
    assert server.log.count('"status": 499') == 3
    assert server.measure('te_request_failure{err="499"}') == 3


def test_what_runs_for_a_client_that_hung_up_is_not_counted_any_more(start_waiting, gate):
    server = start_waiting(timeout_s=60)
    with pytest.raises(httpx.TimeoutException):
        held(server, gate, timeout=0.3)
    waits(server, 0)
    assert server.post("/rerank", {"query": QUERY, "texts": ["ba"]}).status_code == 200


def test_overload_is_answered_with_429_and_every_answer_is_its_own(start_waiting, gate):
    server = start_waiting(waiting_documents=12, timeout_s=60)
    refused = threading.Semaphore(0)

    def ask(number):
        texts = [f"own {number}", "ba do ku"]
        answer = held(server, gate, texts, headers={"X-Request-Id": f"n-{number}"})
        assert answer.headers["X-Request-Id"] == f"n-{number}"
        if answer.status_code == 200:
            assert {row["index"]: row["text"] for row in answer.json()} == dict(enumerate(texts))
        else:
            assert int(answer.headers["Retry-After"]) >= 1
            assert answer.json()["error_type"] == "overloaded"
            refused.release()
        return answer.status_code

    with ThreadPoolExecutor(50) as pool:
        asked = [pool.submit(ask, number) for number in range(50)]
        for _ in range(38):
            assert refused.acquire(timeout=30)
        gate.touch()
    assert Counter(one.result() for one in asked) == {200: 12, 429: 38}
    assert ask(50) == 200


def test_what_is_late_is_answered_with_504(start_waiting, gate):
    server = start_waiting(timeout_s=0.3)
    answer = held(server, gate)
    assert (answer.status_code, answer.json()["error_type"]) == (504, "timeout")
    waits(server, 0)
    assert server.post("/rerank", {"query": QUERY, "texts": ["ba"]}).status_code == 200


def test_it_is_not_ready_before_every_model_has_answered(start_waiting, gate):
    server = start_waiting(warm=False, gate=gate, timeout_s=60)
    assert server.get("/health").json() == {"status": "alive"}
    for answer in (server.get("/ready"), server.post("/rerank", {"query": QUERY, "texts": ["ba"]})):
        assert (answer.status_code, answer.json()["error_type"]) == (503, "unhealthy")
    assert int(answer.headers["Retry-After"]) >= 1
    gate.touch()
    assert server.ready().post("/rerank", {"query": QUERY, "texts": ["ba"]}).status_code == 200


def test_a_model_that_is_slow_at_first_becomes_ready_all_the_same(start_waiting, gate):
    server = start_waiting(warm=False, gate=gate, timeout_s=0.2)
    server.wait(lambda: "warm-up failed" in server.log)
    gate.touch()
    assert server.ready().get("/ready").status_code == 200


def test_sigterm_is_told_at_ready_first_and_lets_answers_under_way_end(start_waiting, gate):
    server = start_waiting(notice_s=1, timeout_s=60)
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(held, server, gate)
        waits(server, 1)
        server.process.send_signal(signal.SIGTERM)
        server.wait(lambda: server.get("/ready").status_code == 503)
        assert server.get("/health").status_code == 200
        assert server.post("/rerank", {"query": QUERY, "texts": ["ba"]}).status_code == 200

        def takes_nothing_new():
            try:
                return httpx.get(f"{server.url}/health") is None
            except httpx.TransportError:
                return True

        server.wait(takes_nothing_new)
        assert not under_way.done()
        gate.touch()
        assert under_way.result().status_code == 200
    assert server.process.wait(30) == 0


def test_a_model_that_does_not_end_does_not_keep_the_service_from_ending(start_waiting, gate):
    server = start_waiting(drain_s=1, timeout_s=60)
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(held, server, gate)
        waits(server, 1)
        assert server.stop() == 0
        assert under_way.result().status_code == 503
        assert "send it again" in under_way.result().json()["error"]
    assert "Traceback" not in server.log
