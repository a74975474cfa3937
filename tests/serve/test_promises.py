"""Troubles that other rerank servers have had, none of which may happen here."""

import math
import signal
import threading
import time
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


def test_a_score_does_not_depend_on_the_other_documents(either):
    together = scores(either, TEXTS)
    if either.get("/info").json()["model_id"] != "fused":  # whose BM25 compares the documents at hand
        for index, text in enumerate(TEXTS):
            assert scores(either, [text])[0] == pytest.approx(together[index], abs=1e-5)


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


def test_one_very_long_document_does_not_stall_everyone(server):
    ended = []

    def ask(name, texts):
        assert server.post("/rerank", {"query": QUERY, "texts": texts}).status_code == 200
        ended.append(name)

    long = threading.Thread(target=ask, args=("long", ["".join(f"word{n} " for n in range(500_000))]))
    long.start()
    time.sleep(0.2)
    for number in range(5):
        ask(number, ["ba", "do"])
    long.join()
    assert ended[:5] == [0, 1, 2, 3, 4]


def test_results_do_not_depend_on_who_else_asks(cross):
    texts = [f"{'ba do re ' * (number % 9)}ku" for number in range(40)]
    alone = [scores(cross, [text])[0] for text in texts]
    with ThreadPoolExecutor(16) as pool:
        parts = list(pool.map(lambda start: scores(cross, texts[start : start + 5]), range(0, 40, 5)))
    together = [part[index] for part in parts for index in range(5)]
    assert together == pytest.approx(alone, abs=1e-5)


def test_memory_does_not_grow_with_each_long_text(cross):
    def resident():
        with open(f"/proc/{cross.process.pid}/status") as lines:
            return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    def send(count):
        for number in range(count):
            cross.post("/rerank", {"query": QUERY, "texts": [f"{number} " + "ba do " * 60_000]})

    send(15)
    before = resident()
    send(30)
    assert resident() < before + 40


def test_a_client_that_hangs_up_frees_its_work(start):
    server = start(value_function="fifo", ranker="bm25", timeout_s=60)
    texts = [" ".join(f"word{n}{m}" for n in range(3000)) for m in range(60)]
    for _ in range(6):
        with pytest.raises(httpx.TimeoutException):
            httpx.post(f"{server.url}/rerank", json={"query": QUERY, "texts": texts}, timeout=0.3)
    until = time.monotonic() + 10
    while server.measure('te_queue_size{model="bm25"}') and time.monotonic() < until:
        time.sleep(0.05)
    assert server.measure('te_queue_size{model="bm25"}') == 0
    assert server.post("/rerank", {"query": QUERY, "texts": ["ba"]}).status_code == 200


def test_overload_is_answered_with_429_and_every_answer_is_its_own(start, cross_folder):
    server = start(
        ranker=f"cross-encoder@{cross_folder}", precision="fp32", waiting_documents=12, batch_documents=2
    )

    def ask(number):
        texts = [f"own {number}", "ba do ku"]
        given = {"headers": {"X-Request-Id": f"n-{number}"}}
        answer = server.post("/rerank", {"query": QUERY, "texts": texts, "return_text": True}, **given)
        assert answer.headers["X-Request-Id"] == f"n-{number}"
        if answer.status_code == 200:
            assert {row["index"]: row["text"] for row in answer.json()} == dict(enumerate(texts))
        else:
            assert int(answer.headers["Retry-After"]) >= 1
        return answer.status_code

    with ThreadPoolExecutor(40) as pool:
        statuses = Counter(pool.map(ask, range(200)))
    assert set(statuses) == {200, 429}
    assert sum(statuses.values()) == 200


def test_what_is_late_is_answered_with_504(start):
    server = start(ranker="bm25", timeout_s=0.2)
    answer = server.post("/rerank", {"query": QUERY, "texts": ["".join(f"w{n} " for n in range(400_000))]})
    assert (answer.status_code, answer.json()["error_type"]) == (504, "timeout")
    assert server.post("/rerank", {"query": QUERY, "texts": ["ba"]}).status_code in (200, 504)


def test_it_is_not_ready_before_a_model_has_answered(server):
    """Listening begins with the first model loaded, and readiness with its first answer."""
    assert server.get("/health").json() == {"status": "alive"}
    warm = next(place for place, line in enumerate(server.lines) if '"event": "ready"' in line)
    asked = [place for place, line in enumerate(server.lines) if '"path": "/ready", "status": 200' in line]
    assert warm < min(asked)


def test_sigterm_lets_answers_under_way_end_and_says_so_at_ready_first(start):
    server = start(ranker="bm25", notice_s=2)
    texts = ["".join(f"w{n} " for n in range(300_000))]
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(server.post, "/rerank", {"query": QUERY, "texts": texts})
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert server.get("/ready").status_code == 503
        assert server.get("/health").status_code == 200
        assert server.post("/rerank", {"query": QUERY, "texts": ["ba"]}).status_code == 200
        assert under_way.result().status_code == 200
    assert server.process.wait(30) == 0
