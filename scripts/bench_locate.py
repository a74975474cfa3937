"""``firstpage bench locate``: the localisation benchmark on tasks in SWE-bench's format."""

import json
import os
import sys
from pathlib import Path

import click

from ..eval.localisation import Plan
from ..eval.locate import locate
from ..eval.measures import BUDGETS
from ..eval.outputs import write_outputs
from ..eval.provenance import provenance
from ..eval.tables import localisation_tables
from ..eval.tasks import digest, load_tasks
from ..readers import DEFAULT, value_functions
from ..readers.candidates import candidate_generators
from ..readers.sources import PYTHON
from .options import names, new_folder, numbers, reference_among, repositories, task_progress


@click.command("locate")
@click.option(
    "--tasks", required=True, help="A SWE-bench-format file, or verified, lite or dev from the hub."
)
@click.option("--repos", help="A folder of clones or a YAML map; without it, clones are made in the cache.")
@click.option("--out", type=click.Path(file_okay=False), help="Folder for cells, summary, tables and report.")
@click.option("--generators", callback=names(candidate_generators), help="Comma-separated; all by default.")
@click.option("--functions", callback=names(value_functions), help="Comma-separated; all by default.")
@click.option("--budgets", callback=numbers, default=",".join(map(str, BUDGETS)), show_default=True)
@click.option("--reference", help=f"What the others are compared with; {DEFAULT} if it is measured.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default="cores", type=click.IntRange(1))
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    tasks: str,
    repos: str | None,
    out: str | None,
    generators: list[str],
    functions: list[str],
    budgets: list[int],
    reference: str | None,
    jobs: int,
    as_json: bool,
) -> None:
    """How often the file to change is among the candidates, ranked first, and on the page.

    \b
      firstpage bench locate --tasks verified.jsonl.gz --repos clones/ --out out/locate
    """
    compared = reference_among(functions, reference)
    loaded = load_tasks(tasks)
    places = repositories(repos, dict.fromkeys(task.repo for task in loaded))
    plan = Plan(generators, functions, budgets, PYTHON)
    folder = new_folder(out) if out else None
    with task_progress("measuring", len(loaded)) as step:
        summary, cells = locate(loaded, places, plan, compared, jobs, step)
    summary["provenance"] = provenance(
        ["firstpage", *sys.argv[1:]], digests={Path(tasks).name: digest(loaded)}
    )
    if folder:
        report = write_outputs(folder, f"Localisation on {Path(tasks).name}", summary, cells, loaded)
    print(json.dumps(summary) if as_json else localisation_tables(summary))
    if folder:
        click.echo(f"The report is {report}", err=True)
