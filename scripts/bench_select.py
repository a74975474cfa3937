"""``firstpage bench select``: the first-chunk experiment, from cached candidates."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from ..eval.first_chunk import FUNCTIONS, Cell, grep_candidates, measure, summarise, write_first_chunk
from ..eval.first_chunk_published import against_published, load_published
from ..eval.first_chunk_tables import first_chunk_tables
from ..eval.measures import BUDGETS
from ..eval.provenance import provenance
from ..eval.tasks import Task, digest, load_candidates, load_tasks
from ..readers import value_functions
from .options import names, new_folder, numbers, repositories, task_progress


@click.command("select")
@click.option(
    "--tasks",
    "-t",
    default="verified",
    show_default=True,
    help="A .jsonl, .jsonl.gz, .json or .parquet file; or verified, lite or dev, from the hub.",
)
@click.option("--candidates", "-c", help="A file of instance_id and candidates (paths in grep's order).")
@click.option(
    "--repos",
    help="Without --candidates: a folder of clones or a YAML map to search in; clones are made if not given.",
)
@click.option("--out", "-o", help="Folder for cells.parquet, summary.json and table.md.")
@click.option(
    "--reference", help="Folder of the paper's first_chunk_e1*.csv; its figures come along otherwise."
)
@click.option(
    "--functions",
    "-f",
    default=",".join(FUNCTIONS),
    show_default=True,
    callback=names(value_functions),
    help="Value functions, comma-separated.",
)
@click.option(
    "--budgets",
    "-b",
    default=",".join(map(str, BUDGETS)),
    show_default=True,
    callback=numbers,
    help="Tokens, comma-separated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON instead of tables.")
def command(
    tasks: str,
    candidates: str | None,
    repos: str | None,
    out: str | None,
    reference: str | None,
    functions: list[str],
    budgets: list[int],
    as_json: bool,
) -> None:
    """The first-chunk experiment of arXiv 2608.26130: does a page of grep's answer hold the file to change?

    \b
      firstpage bench select -t verified.jsonl.gz -c verified_grep_candidates.jsonl.gz -o out/first_chunk

    Prints p@k, inclusion, tokens, paired tests, and each published value as the same or different.
    """
    made = [value_functions.create(name) for name in functions]
    published = load_published(reference)
    loaded = load_tasks(tasks)
    paths = load_candidates(candidates) if candidates else _search(loaded, repos)
    folder = new_folder(out) if out else None
    cells: list[Cell] = []
    with task_progress("measuring", len(loaded)) as step:
        for task in loaded:
            cells += measure(task, paths, made, budgets)
            step()
    summary = summarise(cells)
    summary["published"] = against_published(summary, published)
    summary["provenance"] = _provenance(tasks, candidates, loaded)
    if folder:
        write_first_chunk(folder, cells, summary)
    print(json.dumps(summary) if as_json else first_chunk_tables(summary))
    if out:
        click.echo(f"The cells, the summary and the tables are in {out}", err=True)


def _search(tasks: list[Task], repos: str | None) -> dict[str, list[str]]:
    places = repositories(repos, dict.fromkeys(task.repo for task in tasks))
    with task_progress("searching", len(tasks)) as step:
        return grep_candidates(tasks, places, step)


def _provenance(tasks: str, candidates: str | None, loaded: list[Task]) -> dict[str, Any]:
    files = [] if candidates is None else [candidates]
    return provenance(["firstpage", *sys.argv[1:]], data=files, digests={Path(tasks).name: digest(loaded)})
