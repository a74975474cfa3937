"""Traffic for a reranking service: requests of mixed length, clients at the same time, and what they got."""

import asyncio
import os
import random
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter, sleep
from typing import Any
from urllib.request import urlopen

import numpy as np

from ..core.errors import RunError

_START_S = 180  # until a server must answer
_WORDS = (  # that every tokenizer has whole
    "cache query model view page field index token batch parser reload render validate resolve commit branch "
    "merge request response header cookie session thread lock queue worker signal socket buffer stream file "
    "folder path module import class method property argument default value error raise except finally yield "
    "stale missing broken slow empty double wrong unicode escape quote newline column row table schema key"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: a query and documents."""

    query: str
    documents: list[str]


@dataclass(slots=True)
class Got:
    """What clients got.

    Args:
        latencies: seconds of each request that was answered.
        statuses: how often each status came.
        pairs: documents that were scored.
        seconds: from the first request to the last answer.
        faults: what was wrong with an answer, one sentence each.
    """

    latencies: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    pairs: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """Pace and latencies, as a result keeps them."""
        p50, p99 = np.percentile(self.latencies, [50, 99]) if self.latencies else (0.0, 0.0)
        return {
            "pairs_per_second": round(self.pairs / self.seconds, 1) if self.seconds else 0.0,
            "p50_ms": round(1000 * float(p50)),
            "p99_ms": round(1000 * float(p99)),
            "requests": sum(self.statuses.values()),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
        }


def requests(count: int, seed: int, least: int = 4, most: int = 24) -> list[Asked]:
    """Requests of several documents, whose lengths are log-uniform from 6 to 300 words.

    Args:
        count: of requests.
        seed: of all that is drawn.
        least: documents of a request.
        most: the same at most.
    """
    draw = random.Random(seed)
    return [
        Asked(_text(draw, 12), [_text(draw, _length(draw)) for _ in range(draw.randint(least, most))])
        for _ in range(count)
    ]


def _length(draw: random.Random) -> int:
    return round(6 * float(50 ** draw.random()))


def _text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(_WORDS.split(), k=words))


async def drive(url: str, asked: Sequence[Asked], clients: int, documents_key: str = "texts") -> Got:
    """Sends requests from clients at the same time, each its next one as soon as the last is answered.

    Args:
        url: of ``/rerank``.
        asked: the requests.
        clients: at the same time.
        documents_key: ``texts``, or ``documents`` for services that know Cohere's form alone.
    """
    import httpx

    got, left = Got(), iter(asked)

    async def client(session: httpx.AsyncClient) -> None:
        for one in left:
            body = {"query": one.query, documents_key: one.documents, "model": "model"}
            start = perf_counter()
            answer = await session.post(url, json=body)
            got.statuses[answer.status_code] = got.statuses.get(answer.status_code, 0) + 1
            if answer.is_success:
                got.latencies.append(perf_counter() - start)
                got.pairs += len(one.documents)

    start = perf_counter()
    async with httpx.AsyncClient(timeout=300, limits=httpx.Limits(max_connections=clients)) as session:
        await asyncio.gather(*(client(session) for _ in range(clients)))
    got.seconds = perf_counter() - start
    return got


@contextmanager
def served(words: Sequence[str], ready: str) -> "Iterator[subprocess.Popen[bytes]]":
    """A server's process, from when it answers at the URL ``ready`` to the end.

    Raises:
        RunError: it does not start; ends with what it said.
    """
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(words, stdout=log, stderr=log, env=os.environ | {"HF_HUB_OFFLINE": "1"})
        try:
            until = perf_counter() + _START_S
            while not _answers(ready):
                if process.poll() is not None or perf_counter() > until:
                    log.seek(0)
                    said = log.read().decode("utf-8", "replace").strip()[-2000:]
                    raise RunError(f"{words[0]} does not serve: {said}")
                sleep(0.5)
            yield process
        finally:
            process.terminate()
            process.wait(60)


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 -- of this machine
            return bool(answer.status == 200)
    except OSError:
        return False


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
