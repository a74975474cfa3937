"""``firstpage train bi-encoder``, ``cross-encoder`` and ``fusion``: models, by a configuration."""

import json
from collections.abc import Callable
from typing import Any

import click

from ..core.errors import MissingExtraError
from ..train.config import BiEncoderConfig, CrossEncoderConfig, FusionConfig, read_config
from .options import index_progress


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """What all these commands take."""
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
@click.option(
    "--ablate", is_flag=True, help="Train also without each group of columns, in OUT/without_GROUP."
)
def fusion(config: str, repos: str, ablate: bool, overwrite: bool, as_json: bool) -> None:
    """Train the fused ranker on mined rows: real issues, and commits made like issues.

    The rows are those of `firstpage mine swebench` and `firstpage mine history`. Killed and started again,
    it goes on after the last repository that it was done with. The folder's `model` holds the trees, for
    files of a commit and for those of an answer, and the bi-encoder.

    \b
      firstpage train fusion --config configs/fusion_cpu_small.yaml --repos repos.yaml
    """
    from ..eval.repositories import find_repositories
    from ..train import fusion as trainer
    from ..train.rows import read_rows

    read = read_config(config, FusionConfig)
    names = {row["repo"]: None for path in read.rows for _, row in read_rows(path)}
    places = find_repositories(repos, names)
    with index_progress("training") as progress:
        record = trainer.train_fusion(read, places, overwrite, progress)
        without = trainer.ablate(read, places, overwrite, progress) if ablate else {}
        record |= {"without": without} if ablate else {}
    if as_json:
        print(json.dumps(record))
        return
    print(f"{read.out}/model is done")
    for kind in ("commit", "answer"):
        _print_trees(kind, record[kind])
    for group, told in without.items():
        print(f"{read.out}/without_{group}/model is done")
        _print_trees("commit", told["commit"])


def _print_trees(kind: str, told: dict[str, Any]) -> None:
    left = f", {told['left_out']:,} rows left out" if told["left_out"] else ""
    shown = ", ".join(f"p@{depth} {rate}" for depth, rate in told["cross_validated"].items())
    print(f"  files of {kind}s: {told['tasks']:,} tasks, {told['issues']:,} of them of issues{left}")
    if shown:
        print(f"    {told['measured_on']}, by trees that saw nothing of their repositories: {shown}")
    else:
        print("    nothing was measured: that takes rows of two repositories")


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
