"""How fast a configuration trains on the device that there is: a training of some minutes, and its log.

Run it by hand; it keeps no weights::

    python -m firstpage.scripts.gpu_check bi-encoder --config configs/bi_encoder_gpu_24gb.yaml \
        --minutes 5 --out eval/results/gpu/bi_encoder.json
"""

import json
import os
import sys
import tempfile
from dataclasses import asdict, replace
from typing import Any

import click

from ..core.errors import FirstpageError, MissingExtraError
from ..core.files import write_atomically
from ..eval.provenance import provenance
from ..train.config import BiEncoderConfig, CrossEncoderConfig, TrainerConfig, read_config

_NEVER = 1_000_000_000  # steps


@click.command()
@click.argument("kind", type=click.Choice(["bi-encoder", "cross-encoder"]))
@click.option("--config", required=True, help="YAML, as for `firstpage train`.")
@click.option("--minutes", default=5.0, show_default=True, type=click.FloatRange(0, min_open=True))
@click.option("--out", required=True, help="File of JSON to write.")
@click.option(
    "--peak-tflops", type=click.FloatRange(0, min_open=True),
    help="Of the device, in bf16 without sparsity; known of some cards.",
)  # fmt: skip
def command(kind: str, config: str, minutes: float, out: str, peak_tflops: float | None) -> None:
    """Train for some minutes and log throughput, memory and model FLOPs utilisation."""
    read: TrainerConfig
    if kind == "bi-encoder":
        read = read_config(config, BiEncoderConfig)
    else:
        read = read_config(config, CrossEncoderConfig)
    log = {
        "provenance": provenance(["gpu_check", *sys.argv[1:]], read.seed, [config, *read.train]),
        "trainer": kind,
        "config": asdict(read),
        **check(read, minutes * 60, peak_tflops),
    }
    write_atomically(out, json.dumps(log, indent=1) + "\n")
    mfu = f", {log['mfu']:.1%} of the peak" if log["mfu"] is not None else ""
    print(
        f"{log['device']}: {log['examples_per_second']} examples and {log['tokens_per_second']:,} tokens a "
        f"second{mfu}; {log['peak_memory_gib']} GiB at most, {log['estimated_memory_gib']} estimated"
    )


def check(config: TrainerConfig, seconds: float, peak: float | None = None) -> dict[str, Any]:
    """Trains so long and measures.

    Args:
        config: of the training; its development files and folder are left alone.
        seconds: of measuring.
        peak: of the device, in TFLOP/s; looked up by its name if None.

    Returns:
        What `Meter.measured` gives, ``device``, ``losses`` by step, and memory: estimated and used at most.

    Raises:
        MissingExtraError: the libraries to train are not installed.
    """
    try:
        import torch
        import transformers

        from ..train.bi_encoder import BiEncoder
        from ..train.cross_encoder import CrossEncoder
        from ..train.folder import TrainingFolder
        from ..train.inputs import load_examples
        from ..train.memory import memory_of
        from ..train.meter import Meter, peak_tflops
        from ..train.training import Learner, make_trainer, quiet, train
    except ImportError as error:
        raise MissingExtraError("training", "train") from error
    quiet()
    gpu = torch.cuda.is_available()
    device = torch.cuda.get_device_name() if gpu else "CPU"
    alone = replace(config, dev=(), patience=None, checkpoint_every=_NEVER, log_every=1)
    learner: Learner = BiEncoder(alone) if isinstance(alone, BiEncoderConfig) else CrossEncoder(alone)
    transformers.set_seed(config.seed)
    with tempfile.TemporaryDirectory() as folder:
        model = learner.model()
        data = learner.data(load_examples(config.train))
        trainer = make_trainer(learner, model, data, TrainingFolder(folder, {}))
        meter = Meter(model, seconds)
        trainer.add_callback(meter)
        train(trainer)
    peak = peak or (peak_tflops(device) if gpu else None)
    return {
        "device": device,
        **meter.measured(config.batch_size * config.accumulate, peak),
        "estimated_memory_gib": round(memory_of(config, model).total / 2**30, 2),
        "losses": [[row["step"], row["loss"]] for row in trainer.state.log_history if "loss" in row],
    }


if __name__ == "__main__":
    try:
        command()
    except FirstpageError as error:
        if os.environ.get("FIRSTPAGE_TRACEBACK"):
            raise
        sys.exit(f"gpu_check: {error}")
