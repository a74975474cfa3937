"""How fast the service scores pairs, beside sentence-transformers called per request and Infinity.

Run it by hand, on a quiet machine; all take the same weights (of MiniLM's size; how they are trained makes
no difference to their pace) and the same requests, turn by turn, in one run::

    python -m firstpage.scripts.service_pace --infinity infinity_env/bin/infinity_emb \
        --out eval/results/service/pace.json
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from ..core.errors import FirstpageError
from ..core.files import write_atomically
from ..eval.provenance import provenance
from ..eval.service import Asked, Got, drive, free_port, requests, served

CLIENTS, SEED = 16, 1


@click.command()
@click.option("--infinity", help="Its program, in an environment of its own; not measured if not given.")
@click.option("--model", type=click.Path(exists=True), help="Folder of a cross-encoder; MiniLM if not given.")
@click.option("--requests", "count", default=96, show_default=True, help="A turn.")
@click.option("--turns", default=3, show_default=True)
@click.option("--out", required=True, help="File of JSON to write.")
def command(infinity: str | None, model: str | None, count: int, turns: int, out: str) -> None:
    """Measure the service beside others that serve the same weights."""
    asked = requests(count, SEED)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
        weights = Path(model) if model else base_cross_encoder(Path(folder) / "model")
        ways: dict[str, Callable[[], Got]] = {"predict per request": _predicting(weights, asked)}
        for precision in ("fp32", "auto"):
            url = servers.enter_context(_firstpage(weights, precision))
            ways[f"firstpage, {precision}"] = _driving(f"{url}/rerank", asked, "texts")
        if infinity:
            url = servers.enter_context(_infinity(infinity, weights))
            ways["infinity"] = _driving(f"{url}/rerank", asked, "documents")
        measured: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
        for turn in range(turns + 1):
            for name, way in ways.items():
                got = way().summary()
                if turn:  # the first warms up
                    measured[name].append(got)
                    print(f"{name}: {got}", flush=True)
    medians = {name: _medians(every) for name, every in measured.items()}
    ratios = {
        f"{ours} to {name}": round(medians[ours]["pairs_per_second"] / medians[name]["pairs_per_second"], 2)
        for ours in ways if ours.startswith("firstpage") for name in ways if not name.startswith("firstpage")
    }  # fmt: skip
    result = {
        "provenance": provenance(["service_pace", *sys.argv[1:]], SEED),
        "clients": CLIENTS,
        "pairs_a_turn": sum(len(one.documents) for one in asked),
        "medians": medians,
        "ratios": ratios,
        "turns": measured,
    }
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, json.dumps(result, indent=1) + "\n")
    print(json.dumps(ratios, indent=1))


def _medians(turns: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {
        key: statistics.median(turn[key] for turn in turns)
        for key in ("pairs_per_second", "p50_ms", "p99_ms")
    }


def base_cross_encoder(folder: Path) -> Path:
    """A cross-encoder from the base that a package brings."""
    import torch
    from sentence_transformers import CrossEncoder

    from ..train.bases import load_base
    from ..train.config import PACKAGE

    torch.manual_seed(SEED)
    load_base(CrossEncoder, "base", PACKAGE, num_labels=1).save_pretrained(str(folder))
    return folder


def program() -> list[str]:
    """The words that start ``firstpage serve`` in this environment."""
    return [sys.executable, "-c", "from firstpage.scripts.cli import main; main()", "serve"]


def _predicting(weights: Path, asked: Sequence[Asked]) -> Callable[[], Got]:
    """One request after the other, in this process, so without what HTTP costs."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(weights), local_files_only=True)

    def predict() -> Got:
        got, start = Got(), perf_counter()
        for one in asked:
            began = perf_counter()
            model.predict([(one.query, text) for text in one.documents], show_progress_bar=False)
            got.latencies.append(perf_counter() - began)
            got.pairs += len(one.documents)
        got.seconds = perf_counter() - start
        return got

    return predict


def _driving(url: str, asked: Sequence[Asked], key: str) -> Callable[[], Got]:
    return lambda: asyncio.run(drive(url, asked, CLIENTS, key))


@contextmanager
def _firstpage(weights: Path, precision: str) -> Iterator[str]:
    port = free_port()
    settings = weights.parent / f"{precision}.yaml"
    settings.write_text(
        f"ranker: cross-encoder@{weights}\nport: {port}\nprecision: {precision}\n"
        "waiting_documents: 100000\nwait_s: 600\ntimeout_s: 600\n"
    )
    url = f"http://127.0.0.1:{port}"
    with served([*program(), "--config", str(settings)], f"{url}/ready"):
        yield url


@contextmanager
def _infinity(program: str, weights: Path) -> Iterator[str]:
    port = free_port()
    words = [program, "v2", "--model-id", str(weights), "--served-model-name", "model", "--engine", "torch",
             "--device", "cpu", "--host", "127.0.0.1", "--port", str(port), "--url-prefix", ""]  # fmt: skip
    with served(words, f"http://127.0.0.1:{port}/health"):
        yield f"http://127.0.0.1:{port}"


if __name__ == "__main__":
    try:
        command()
    except FirstpageError as error:
        if os.environ.get("FIRSTPAGE_TRACEBACK"):
            raise
        sys.exit(f"firstpage: {error}")
