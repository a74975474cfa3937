"""``firstpage bench hybrid``: what the constants of ``hybrid`` are worth, and how well they carry over."""

import json
import os
import sys
from pathlib import Path

import click

from ..core.files import write_atomically
from ..eval.ablation import ablate, ablation_tables
from ..eval.provenance import provenance
from ..eval.tasks import digest, load_tasks
from .options import repositories, task_progress


@click.command("hybrid")
@click.option(
    "--tasks", required=True, help="A SWE-bench-format file, or verified, lite or dev from the hub."
)
@click.option("--repos", help="A folder of clones or a YAML map; without it, clones are made in the cache.")
@click.option("--out", type=click.Path(file_okay=False), help="Folder for summary.json and table.md.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default="cores", type=click.IntRange(1))
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(tasks: str, repos: str | None, out: str | None, jobs: int, as_json: bool) -> None:
    """What each constant of hybrid is worth, and what hybrid reaches where other repositories chose them.

    \b
      firstpage bench hybrid --tasks dev.jsonl.gz --repos clones/ --out out/hybrid

    Every constant is changed alone; then all are chosen anew for each repository, on the others.
    """
    loaded = load_tasks(tasks)
    places = repositories(repos, dict.fromkeys(task.repo for task in loaded))
    with task_progress("measuring", len(loaded)) as step:
        summary = ablate(loaded, places, jobs, step)
    summary["provenance"] = provenance(
        ["firstpage", *sys.argv[1:]], seed=None, digests={Path(tasks).name: digest(loaded)}
    )
    tables = ablation_tables(summary)
    if out:
        folder = Path(out)
        write_atomically(folder / "summary.json", json.dumps(summary, indent=1, sort_keys=True) + "\n")
        write_atomically(folder / "table.md", tables)
    print(json.dumps(summary) if as_json else tables)
    if out:
        click.echo(f"The summary and the tables are in {out}", err=True)
