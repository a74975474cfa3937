"""``firstpage train bi-encoder`` and ``cross-encoder``: models from examples, by a configuration."""

import json
from collections.abc import Callable
from typing import Any

import click

from ..core.errors import MissingExtraError
from ..train.config import BiEncoderConfig, CrossEncoderConfig, FusionConfig, read_config
from .options import index_progress


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """What both commands take."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print what training.json tells."),
        click.option("--overwrite", is_flag=True, help="Lose an earlier training in the same folder."),
        click.option("--config", required=True, metavar="FILE", help="YAML; the folder configs has some."),
    ):
        command = option(command)
    return command


@click.command("bi-encoder")
@_options
def bi_encoder(config: str, overwrite: bool, as_json: bool) -> None:
    """Train a bi-encoder on examples of `firstpage mine negatives`.

    The configuration names examples, base and folder. Killed and started again, training goes on where it
    stopped, to the same weights. The folder's `model` is what sentence-transformers loads; its README.md
    tells what was trained and measured, and `tensorboard` the way there. A static embedding is also in
    `encoder`, a quarter of the size, as `bi-encoder@OUT/encoder` and `train fusion` read it.

    \b
      firstpage train bi-encoder --config configs/bi_encoder_cpu_small.yaml
      accelerate launch --num_processes 2 $(which firstpage) train bi-encoder --config gpus.yaml
    """
    read = read_config(config, BiEncoderConfig)
    try:
        from ..train.bi_encoder import train_bi_encoder
    except ImportError as error:
        raise MissingExtraError("training", "train") from error
    with index_progress("training") as progress:
        record = train_bi_encoder(read, overwrite, progress)
    if read.static and record:
        from ..train.export import export_static

        export_static(f"{read.out}/model", f"{read.out}/encoder")
    _print(record, read.out, as_json)


@click.command("cross-encoder")
@_options
def cross_encoder(config: str, overwrite: bool, as_json: bool) -> None:
    """Train a cross-encoder on examples of `firstpage mine negatives`.

    As `firstpage train bi-encoder`, for a model that reads a query and a document together: slower by far,
    and better on the few documents that it is asked about.

    \b
      firstpage train cross-encoder --config configs/cross_encoder_cpu_small.yaml
    """
    read = read_config(config, CrossEncoderConfig)
    try:
        from ..train.cross_encoder import train_cross_encoder
    except ImportError as error:
        raise MissingExtraError("training", "train") from error
    with index_progress("training") as progress:
        record = train_cross_encoder(read, overwrite, progress)
    _print(record, read.out, as_json)


@click.command()
@_options
@click.option("--repos", required=True, metavar="DIR", help="A folder of clones, or a YAML map of them.")
def fusion(config: str, repos: str, overwrite: bool, as_json: bool) -> None:
    """Train the fused ranker on mined rows: real issues, and commits made like issues.

    The rows are those of `firstpage mine swebench` and `firstpage mine history`. Killed and started again,
    it goes on after the last repository that it was done with. The folder's `model/fused.json` holds the
    trees.

    \b
      firstpage train fusion --config configs/fusion_cpu_small.yaml --repos repos.yaml
    """
    from ..eval.repositories import find_repositories
    from ..train.fusion import train_fusion
    from ..train.rows import read_rows

    read = read_config(config, FusionConfig)
    names = {row["repo"]: None for path in read.rows for _, row in read_rows(path)}
    with index_progress("training") as progress:
        record = train_fusion(read, find_repositories(repos, names), overwrite, progress)
    if as_json:
        print(json.dumps(record))
        return
    print(f"{read.out}/model is done: {record['tasks']:,} tasks, {record['issues']:,} of them issues")
    shown = ", ".join(f"p@{depth} {rate}" for depth, rate in record["cross_validated"].items())
    print(f"  issues, by trees that saw nothing of their repositories: {shown}")


def _print(record: dict[str, Any], out: str, as_json: bool) -> None:
    """Tells what came of it; of several processes, only the first knows."""
    if not record:
        return
    if as_json:
        print(json.dumps(record))
        return
    examples = sum(record["examples"].values())
    print(f"{out}/model is done: {record['steps']:,} steps on {examples:,} examples, step {record['step']:,}")
    for name, after in record["after"].items():
        print(f"  {name:<8} {record['before'][name]:.4f} → {after:.4f} on {record['questions']:,} questions")
