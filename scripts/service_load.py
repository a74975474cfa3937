"""The service under ten times what it can do, then for ten minutes under what it can: are all answers right?

Run it by hand, on a machine with nothing else to do; all it sends goes to a server of its own on this
machine, for a bounded time::

    python -m firstpage.scripts.service_load --out eval/results/service/load.json

Each document of a pool is scored once by itself, before. Each request then draws some of them, in an order
of its own, with one more that only this request has; so an answer that belongs to another request, or a
score that belongs to another document, is found out.
"""

import asyncio
import json
import os
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from ..core.errors import FirstpageError
from ..core.files import write_atomically
from ..eval.provenance import provenance
from ..eval.service import Asked, Got, drive, free_port, requests, served
from .service_pace import SEED, base_cross_encoder, program

TOLERANCE = 1e-4  # of scores, between a document alone and among others
DRAWN = 6  # documents of the pool in a request
OVERLOAD = 10
_LONG = 200_000  # characters of the texts that are far too long, of which the soak has some


@click.command()
@click.option("--seconds", default=60, show_default=True, help="Of overload.")
@click.option("--minutes", default=10.0, show_default=True, help="Of the soak.")
@click.option("--model", type=click.Path(exists=True), help="Folder of a cross-encoder; MiniLM if not given.")
@click.option("--out", required=True, help="File of JSON to write.")
def command(seconds: int, minutes: float, model: str | None, out: str) -> None:
    """Load a service of its own and check every answer."""
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(model) if model else base_cross_encoder(Path(folder) / "model")
        port = free_port()
        settings = Path(folder) / "serve.yaml"
        settings.write_text(f"ranker: cross-encoder@{weights}\nport: {port}\nprecision: fp32\nwait_s: 5\n")
        url = f"http://127.0.0.1:{port}"
        with served([*program(), "--config", str(settings)], f"{url}/ready") as process:
            found = asyncio.run(_measure(url, process.pid, seconds, minutes * 60))
    result = {"provenance": provenance(["service_load", *sys.argv[1:]], SEED), **found}
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, json.dumps(result, indent=1) + "\n")
    print(json.dumps(found, indent=1))


async def _measure(url: str, process: int, seconds: int, soak_seconds: float) -> dict[str, Any]:
    import httpx

    (pool,) = requests(1, SEED, least=48, most=48)
    async with httpx.AsyncClient(
        timeout=120, base_url=url, limits=httpx.Limits(max_connections=900)
    ) as client:
        known = await _alone(client, pool)
        capacity = (await drive(f"{url}/rerank", requests(48, SEED + 1, DRAWN, DRAWN), 8)).summary()
        pace = capacity["pairs_per_second"] / (DRAWN + 1)
        overload = await _overload(client, pool, known, OVERLOAD * pace, seconds)
        soak = await _soak(client, pool, known, process, soak_seconds)
    return {"capacity": capacity, "overload": overload, "soak": soak}


async def _alone(client: Any, pool: Asked) -> dict[str, float]:
    """The score of each document by itself."""
    known = {}
    for document in pool.documents:
        answer = await client.post("/rerank", json={"query": pool.query, "texts": [document]})
        known[document] = answer.json()[0]["score"]
    return known


async def _overload(
    client: Any, pool: Asked, known: Mapping[str, float], rate: float, seconds: int
) -> dict[str, Any]:
    """Requests at a rate that does not wait for answers."""
    draw, got = random.Random(SEED), Got()
    start = perf_counter()
    tasks: list[asyncio.Task[None]] = []
    while (now := perf_counter() - start) < seconds:
        tasks.append(asyncio.create_task(_ask(client, pool, known, f"overload {len(tasks)}", draw, got)))
        await asyncio.sleep(max(0.0, (len(tasks) + 1) / rate - now))
    await asyncio.gather(*tasks)
    got.seconds = perf_counter() - start
    return {"requests_per_second": round(len(tasks) / seconds, 1), "sent": len(tasks)} | _judged(got)


async def _soak(
    client: Any, pool: Asked, known: Mapping[str, float], process: int, seconds: float
) -> dict[str, Any]:
    """Two clients without a pause, a third that sends far too long texts, and one that hangs up."""
    got, memory, end = Got(), [], perf_counter() + seconds
    start = perf_counter()

    async def steady(name: str) -> None:
        draw, number = random.Random(name), 0
        while perf_counter() < end:
            await _ask(client, pool, known, f"{name} {number}", draw, got)
            number += 1

    async def long() -> None:
        draw = random.Random(SEED)
        while perf_counter() < end:
            text = " ".join(draw.choices(pool.documents, k=_LONG // 200))
            await client.post("/rerank", json={"query": pool.query, "texts": [text]})
            await asyncio.sleep(1)

    async def leaving() -> None:
        while perf_counter() < end:
            with suppress(TimeoutError):
                async with asyncio.timeout(0.02):
                    await client.post("/rerank", json={"query": pool.query, "texts": pool.documents})
            await asyncio.sleep(1)

    async def watching() -> None:
        while perf_counter() < end:
            memory.append(_resident(process))
            await asyncio.sleep(min(5.0, seconds / 20))

    await asyncio.gather(steady("a"), steady("b"), long(), leaving(), watching())
    got.seconds = perf_counter() - start
    settled = memory[len(memory) // 5 :]  # the first fifth fills caches and arenas
    third = max(1, len(settled) // 3)
    return {
        "minutes": round(seconds / 60, 1),
        "resident_mib": {
            "first third, mean": round(sum(settled[:third]) / third),
            "last third, mean": round(sum(settled[-third:]) / third),
            "most": max(memory),
            "every_twentieth": memory[:: max(1, len(memory) // 20)],
        },
    } | _judged(got)


async def _ask(
    client: Any, pool: Asked, known: Mapping[str, float], name: str, draw: random.Random, got: Got
) -> None:
    """One request and everything that its answer must be."""
    import httpx

    own = f"{name} {draw.random()}"
    texts = [*draw.sample(pool.documents, DRAWN), own]
    draw.shuffle(texts)
    start = perf_counter()
    try:
        answer = await client.post(
            "/rerank", json={"query": pool.query, "texts": texts, "return_text": True},
            headers={"X-Request-Id": name.replace(" ", "-")},
        )  # fmt: skip
    except httpx.HTTPError as error:
        got.faults.append(f"{name}: {type(error).__name__}")
        return
    got.statuses[answer.status_code] = got.statuses.get(answer.status_code, 0) + 1
    if answer.headers.get("X-Request-Id") != name.replace(" ", "-"):
        got.faults.append(f"{name}: an answer to another request")
    if answer.status_code == 200:
        got.latencies.append(perf_counter() - start)
        got.pairs += len(texts)
        got.faults += _faults(name, texts, known, answer.json())


def _faults(
    name: str, texts: Sequence[str], known: Mapping[str, float], rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    """What is wrong with an answer."""
    scores = [row["score"] for row in rows]
    checks = {
        "not every document once": sorted(row["index"] for row in rows) == list(range(len(texts))),
        "a text of another document": all(row["text"] == texts[row["index"]] for row in rows),
        "not sorted": scores == sorted(scores, reverse=True),
        "a score of another document": all(
            abs(row["score"] - known[row["text"]]) < TOLERANCE for row in rows if row["text"] in known
        ),
    }
    return [f"{name}: {fault}" for fault, sound in checks.items() if not sound]


def _judged(got: Got) -> dict[str, Any]:
    return got.summary() | {"faults": len(got.faults), "first_faults": got.faults[:5]}


def _resident(process: int) -> int:
    """MiB of memory that a process has, as Linux tells."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024


if __name__ == "__main__":
    try:
        command()
    except FirstpageError as error:
        if os.environ.get("FIRSTPAGE_TRACEBACK"):
            raise
        sys.exit(f"firstpage: {error}")
