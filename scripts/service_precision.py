"""What a cross-encoder's numbers cost and give on this processor: fp32, bf16, and ONNX Runtime's int8.

Run it by hand, with ``pip install onnx onnxruntime`` besides the extra ``train``::

    python -m firstpage.scripts.service_precision --out eval/results/service/precision.json

Of each it tells the pace, how far its outputs are from those of fp32, how often two documents of one request
change places, and how far an output moves with what else is in the batch: dynamic quantisation has one scale
for all activations of a batch.
"""

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ..core.errors import FirstpageError, MissingExtraError
from ..core.files import write_atomically
from ..eval.provenance import provenance
from ..eval.service import requests
from .service_pace import SEED, base_cross_encoder

Run = Callable[[Sequence[Any]], NDArray[np.float64]]

_BATCH = 32


@click.command()
@click.option("--model", type=click.Path(exists=True), help="Folder of a cross-encoder; MiniLM if not given.")
@click.option("--requests", "count", default=12, show_default=True)
@click.option("--turns", default=3, show_default=True)
@click.option("--out", required=True, help="File of JSON to write.")
def command(model: str | None, count: int, turns: int, out: str) -> None:
    """Compare fp32, bf16 and int8 on one cross-encoder."""
    from ..serve.cross_encoder import CrossEncoderModel, Pair

    with tempfile.TemporaryDirectory() as folder:
        weights = Path(model) if model else base_cross_encoder(Path(folder) / "model")
        exact = CrossEncoderModel(weights, "fp32")
        ways: dict[str, Run] = {
            "fp32": _run(exact), "bf16": _run(CrossEncoderModel(weights, "bf16")),
            "onnx int8": _quantised(exact, Path(folder)),
        }  # fmt: skip
        asked = [
            sorted(
                exact.encode([Pair(one.query, text) for text in one.documents]), key=lambda unit: unit.length
            )
            for one in requests(count, SEED)
        ]
        works = [[unit.work for unit in units] for units in asked]
        outputs = {name: [run(some) for some in works] for name, run in ways.items()}
        alone = {name: [run([one])[0] for one in works[0]] for name, run in ways.items()}
        paces: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(turns):
            for name, run in ways.items():
                start = perf_counter()
                for some in works:
                    run(some)
                paces[name].append(sum(map(len, works)) / (perf_counter() - start))
    found = {
        name: {
            "pairs_per_second": round(statistics.median(paces[name]), 1),
            "to_fp32": round(statistics.median(paces[name]) / statistics.median(paces["fp32"]), 2),
            "farthest_from_fp32": _farthest(outputs[name], outputs["fp32"]),
            "pairs_of_documents_in_another_order": _swapped(outputs[name], outputs["fp32"]),
            "farthest_from_itself_alone": float(f"{np.abs(outputs[name][0] - alone[name]).max():.2g}"),
        }
        for name in ways
    }
    spread = float(np.std(np.concatenate(outputs["fp32"])))
    result = {
        "provenance": provenance(["service_precision", *sys.argv[1:]], SEED),
        "spread_of_outputs": round(spread, 4),
        "precisions": found,
    }
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, json.dumps(result, indent=1) + "\n")
    print(json.dumps(result["precisions"], indent=1))


def _run(model: Any) -> Run:
    def run(works: Sequence[Any]) -> NDArray[np.float64]:
        parts = [model.run(works[start : start + _BATCH]) for start in range(0, len(works), _BATCH)]
        return np.concatenate(parts).astype(np.float64)

    return run


def _quantised(model: Any, folder: Path) -> Run:
    """The model exported to ONNX, its weights int8 by channel, its activations int8 as they come."""
    try:
        import onnxruntime
        import torch
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError:
        raise MissingExtraError("int8, with onnx and onnxruntime besides,", "train") from None
    names = ["input_ids", "attention_mask", "token_type_ids"]
    ones = torch.ones((2, 8), dtype=torch.int64)
    torch.onnx.export(
        model.transformer, (ones, ones, ones), str(folder / "model.onnx"), input_names=names,
        output_names=["logits"], dynamo=False, opset_version=17,
        dynamic_axes={name: {0: "batch", 1: "length"} for name in names} | {"logits": {0: "batch"}},
    )  # fmt: skip
    quantize_dynamic(
        folder / "model.onnx", folder / "int8.onnx", weight_type=QuantType.QInt8, per_channel=True
    )
    session = onnxruntime.InferenceSession(str(folder / "int8.onnx"), providers=["CPUExecutionProvider"])

    def run(works: Sequence[Any]) -> NDArray[np.float64]:
        parts = []
        for start in range(0, len(works), _BATCH):
            padded = model.padded(works[start : start + _BATCH])
            parts.append(session.run(None, {name: padded[name] for name in names})[0][:, 0])
        return np.concatenate(parts).astype(np.float64)

    return run


def _farthest(some: Sequence[NDArray[np.float64]], others: Sequence[NDArray[np.float64]]) -> float:
    most = max(float(np.abs(one - other).max()) for one, other in zip(some, others, strict=True))
    return float(f"{most:.2g}")


def _swapped(some: Sequence[NDArray[np.float64]], others: Sequence[NDArray[np.float64]]) -> float:
    """The part of the pairs of documents of one request whose order is another."""
    different = total = 0
    for one, other in zip(some, others, strict=True):
        upper = np.triu_indices(len(one), 1)
        signs = [np.sign(values[:, None] - values[None, :])[upper] for values in (one, other)]
        different += int((signs[0] != signs[1]).sum())
        total += len(upper[0])
    return round(different / max(total, 1), 4)


if __name__ == "__main__":
    try:
        command()
    except FirstpageError as error:
        if os.environ.get("FIRSTPAGE_TRACEBACK"):
            raise
        sys.exit(f"firstpage: {error}")
