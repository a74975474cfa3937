"""Measures a training while it runs: how many texts and tokens a second, and what of the device's peak."""

import resource
import sys
import time
from typing import Any

import torch
from sentence_transformers.base.model import BaseModel
from torch import nn
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

# Dense bf16 TFLOP/s with fp32 sums, from the data sheets and white papers of NVIDIA.
PEAKS = {
    "A100": 312.0, "H100": 989.0, "H100 PCIe": 756.0, "H200": 989.0, "L4": 121.0, "L40S": 362.0,
    "RTX 3090": 71.0, "RTX 4090": 165.0,
}  # fmt: skip


def peak_tflops(device: str) -> float | None:
    """The peak of a device by its name, in TFLOP/s; None if it is not known here.

    Example:
        >>> peak_tflops("NVIDIA GeForce RTX 3090")
        71.0
    """
    words = f" {device.replace('-', ' ')} "  # such as A100-SXM4-40GB
    if " Ti " in words:
        return None
    known = [name for name in PEAKS if f" {name} " in words]
    return PEAKS[max(known, key=len)] if known else None


class Meter(TrainerCallback):
    """Counts what goes through the model, and stops training in time.

    A text that goes through twice, as with a cached loss, counts once: in the pass that gradients follow.

    Args:
        model: that is trained.
        seconds: of measuring after which training stops; above 0.
        warm_up: steps that are not measured; >= 0.
    """

    def __init__(self, model: BaseModel, seconds: float, warm_up: int = 2) -> None:
        self.steps = 0
        self.elapsed = 0.0
        self._model = model
        self._seconds = seconds
        self._warm_up = warm_up
        self._started = 0.0
        self._counted = torch.zeros(3, dtype=torch.int64, device=model.device)  # texts, tokens, with padding
        model[0].register_forward_pre_hook(self._count)

    def on_train_begin(
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,  # noqa: ARG002
        control: TrainerControl,  # noqa: ARG002
        **_: Any,
    ) -> None:
        """Starts measuring, if there is nothing to warm up."""
        if not self._warm_up:
            self._start()

    def on_step_end(
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,
        control: TrainerControl,
        **_: Any,
    ) -> None:
        """Takes the time."""
        if state.global_step == self._warm_up:
            self._start()
        elif state.global_step > self._warm_up:
            _wait()
            self.elapsed = time.perf_counter() - self._started
            self.steps = state.global_step - self._warm_up
            if self.elapsed >= self._seconds:
                control.should_training_stop = True

    def measured(self, examples: int, peak: float | None) -> dict[str, Any]:
        """Figures by name.

        Args:
            examples: of a step.
            peak: of the device, in TFLOP/s.

        Returns:
            Rates a second: of examples, of sequences (a bi-encoder's texts, a cross-encoder's pairs) and of
            tokens. ``mfu`` is 6·N·tokens / (time·peak), with N the parameters without the embedding tables,
            in which tokens are only looked up, and with tokens that are no padding; None without a peak.
        """
        texts, tokens, padded = self._counted.tolist()
        seconds = self.elapsed or float("nan")
        parameters, active = _parameters(self._model)
        flops = 6 * active * tokens / seconds
        return {
            "steps": self.steps,
            "seconds": round(self.elapsed, 2),
            "examples_per_second": round(self.steps * examples / seconds, 2),
            "sequences_per_second": round(texts / seconds, 2),
            "tokens_per_second": round(tokens / seconds, 1),
            "tokens_per_second_with_padding": round(padded / seconds, 1),
            "parameters": parameters,
            "parameters_without_embeddings": active,
            "tflops": round(flops / 1e12, 4),
            "peak_tflops": peak,
            "mfu": round(flops / (peak * 1e12), 4) if peak else None,
            "peak_memory_gib": round(peak_memory() / 2**30, 2),
        }

    def _start(self) -> None:
        _wait()
        self._counted.zero_()
        self._started = time.perf_counter()

    def _count(self, _: nn.Module, given: tuple[Any, ...]) -> None:
        if not torch.is_grad_enabled():
            return
        features = given[0]
        ids = features["input_ids"]
        mask = features.get("attention_mask")
        tokens = ids.numel() if mask is None else mask.sum()
        texts = features["offsets"].numel() if "offsets" in features else len(ids)
        for place, count in enumerate((texts, tokens, ids.numel())):
            self._counted[place] += count  # on the device, which is not waited for


def peak_memory() -> int:
    """Bytes that were in use at most: of the GPU, or of this process where there is none."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


def _parameters(model: BaseModel) -> tuple[int, int]:
    """All parameters, and those that are no embedding table."""
    tables = (one for one in model.modules() if isinstance(one, (nn.Embedding, nn.EmbeddingBag)))
    looked_up = sum(one.weight.numel() for one in tables)
    count = sum(one.numel() for one in model.parameters())
    return count, count - looked_up


def _wait() -> None:
    """Lets the GPU finish what it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
