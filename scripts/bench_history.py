"""``firstpage bench history``: which value function suits a repository of your own."""

import json
import os
import sys
from pathlib import Path

import click

from ..core.git import GitStore
from ..eval.advice import advice
from ..eval.commits import tasks_of
from ..eval.localisation import Plan
from ..eval.locate import locate
from ..eval.outputs import write_outputs
from ..eval.provenance import provenance
from ..eval.tables import short_tables
from ..eval.tasks import digest
from ..readers import value_functions
from ..readers.candidates import candidate_generators
from ..readers.sources import SOURCES
from .options import names, new_folder, numbers, reference_among, suffixes, task_progress


@click.command("history")
@click.option(
    "--repo", default=".", show_default=True, help="A work tree, a .git folder or a bare repository."
)
@click.option("--commits", default=200, show_default=True, type=click.IntRange(1), help="How many tasks.")
@click.option("--generator", default="union", show_default=True, help="Where candidates come from.")
@click.option("--functions", callback=names(value_functions), help="Comma-separated; all by default.")
@click.option(
    "--budgets",
    callback=numbers,
    default="500,1000,2000,4000",
    show_default=True,
    help="Tokens a page, comma-separated.",
)
@suffixes
@click.option("--out", default="out/history", show_default=True, type=click.Path(file_okay=False))
@click.option("--jobs", default=os.cpu_count() or 1, show_default="cores", type=click.IntRange(1))
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    repo: str,
    commits: int,
    generator: str,
    functions: list[str],
    budgets: list[int],
    suffix: tuple[str, ...],
    out: str,
    jobs: int,
    as_json: bool,
) -> None:
    """Find out which value function suits your own repository.

    Takes the last commits as tasks: the message is the query, the files that it changed are to be found
    among those of the parent commit. Writes a report to look at.

    \b
      firstpage bench history --repo . --commits 200
    """
    candidate_generators.create(generator)  # an unknown one is named before any work is done
    suffixes = suffix or SOURCES
    with GitStore(repo) as store:
        name = _name(store.git_dir)
        tasks = tasks_of(store, name, suffixes, commits)
        place = store.git_dir
    plan = Plan([generator], functions, budgets, suffixes)
    folder = new_folder(out)
    with task_progress("measuring", len(tasks)) as step:
        summary, cells = locate(tasks, {name: place}, plan, reference_among(functions, None), jobs, step)
    summary["provenance"] = provenance(["firstpage", *sys.argv[1:]], digests={"tasks": digest(tasks)})
    report = write_outputs(folder, f"{name}: the last {len(tasks)} commits as tasks", summary, cells, tasks)
    if as_json:
        print(json.dumps(summary))
        return
    print(short_tables(summary))
    print(advice(summary, cells))
    print(f"\nThe report is {report}")


def _name(git_dir: Path) -> str:
    """What people call the repository: its folder's name."""
    folder = git_dir.parent if git_dir.name == ".git" else git_dir
    return folder.name.removesuffix(".git")
