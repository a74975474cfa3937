"""``firstpage mine negatives``: examples to train on, with negatives that look like the positives."""

import json
from pathlib import Path

import click

from ..core.errors import InputError
from ..readers.sources import SOURCES
from ..train.documents import FORMS
from ..train.examples import Recipe
from ..train.guard import PURPOSES
from ..train.negative_kinds import KINDS
from ..train.negatives import mine_negatives, rows_by_repository
from .options import index_progress, purpose_of, suffixes


@click.command("negatives")
@click.option(
    "--rows", multiple=True, required=True, metavar="FILE",
    help="What `firstpage mine history` or `swebench` wrote; repeatable.",
)  # fmt: skip
@click.option("--repos", required=True, help="A folder of clones, or a YAML map of owner/name to a folder.")
@click.option(
    "--out", required=True, type=click.Path(), help="File of JSON Lines, gzipped if it ends in .gz."
)
@click.option(
    "--kinds", metavar="KIND,…",
    help=f"Of negatives, which take turns: {', '.join(KINDS)}. All by default, dense only with --model; "
    "none makes pairs alone, much faster, for trainers that take negatives from the batch.",
)  # fmt: skip
@click.option(
    "--model", metavar="FOLDER",
    help="The current bi-encoder, for dense negatives and to find positives.",
)  # fmt: skip
@click.option(
    "--negatives", default=7, show_default=True, type=click.IntRange(1), help="At most, of an example."
)
@click.option(
    "--margin", default=0.95, show_default=True, type=click.FloatRange(0, min_open=True),
    help="Part of the positive's cosine that a dense negative's may reach.",
)  # fmt: skip
@click.option(
    "--documents", default=FORMS[0], show_default=True, type=click.Choice(FORMS),
    help="What a model reads of a file.",
)  # fmt: skip
@click.option("--per-repo", type=click.IntRange(1), help="Rows of each repository, drawn by lot.")
@suffixes
@purpose_of(PURPOSES)
@click.option("--seed", default=0, show_default=True, help="Of what is drawn by lot.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    rows: tuple[str, ...],
    repos: str,
    out: str,
    kinds: str | None,
    model: str | None,
    negatives: int,
    margin: float,
    documents: str,
    per_repo: int | None,
    suffix: tuple[str, ...],
    purpose: str,
    seed: int,
    as_json: bool,
) -> None:
    """Mine hard negatives for mined rows.

    Each row and file that it changed make one example: the query, the chunk of the file that holds the
    changed lines, as it was in the parent commit, and chunks of other files that are hard to tell from it.
    With a model, what it finds is a negative too, unless it has more than 95 % of the positive's cosine with
    the query. Pairs whose positive neither BM25 nor the model finds are left out. Killed and started again,
    it goes on where it stopped.

    \b
      firstpage mine negatives --rows rows.jsonl.gz --repos repos.yaml --out examples.jsonl.gz
      firstpage mine negatives --rows rows.jsonl --repos ~/clones --model bi-encoder --out examples.jsonl
    """
    from ..eval.repositories import find_repositories

    named = _listed(kinds) if kinds is not None else [kind for kind in KINDS if model or kind != "dense"]
    recipe = Recipe(named, negatives, margin, documents, suffix or SOURCES, seed)
    asked = rows_by_repository(rows, per_repo, seed, purpose)
    places: dict[str, Path] = find_repositories(repos, asked)
    with index_progress("mining") as progress:
        summary = mine_negatives(asked, places, out, model, recipe, purpose, progress)
    if as_json:
        print(json.dumps(summary))
        return
    pace = summary["rows_per_minute"]
    print(
        f"{summary['examples']:,} examples of {summary['rows']:,} rows, {summary['pairs']:,} pairs, "
        f"{pace:,} rows a minute"
    )
    for reason, count in summary["dropped"].items():
        print(f"  {count:>7,}  {reason}")
    negative = sum(summary["negatives"].values())
    print(f"{negative:,} negatives; {summary['too_near']:,} files too near to be dense ones")
    for kind, count in summary["negatives"].items():
        print(f"  {count:>7,}  {kind}")


def _listed(kinds: str) -> list[str]:
    listed = list(dict.fromkeys(kind.strip() for kind in kinds.split(",") if kind.strip()))
    if not listed:
        raise InputError(f"--kinds names no kind; there are {', '.join(KINDS)}, or none for pairs alone")
    return [] if listed == ["none"] else listed
