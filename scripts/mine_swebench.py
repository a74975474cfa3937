"""``firstpage mine swebench``: rows to train on from tasks in SWE-bench's format."""

import json
from pathlib import Path

import click

from ..readers.sources import SOURCES
from ..train.guard import PURPOSES
from ..train.swebench import count_tasks, mine_swebench, repositories_of
from .options import purpose_of, suffixes, task_progress


@click.command("swebench")
@click.option(
    "--tasks", multiple=True, required=True, metavar="FILE", help="SWE-bench-format file; repeatable."
)
@click.option(
    "--out", required=True, type=click.Path(), help="File of JSON Lines, gzipped if it ends in .gz."
)
@click.option("--repos", help="A folder of clones or a YAML map, to tell the functions that a patch changes.")
@suffixes
@purpose_of(PURPOSES)
@click.option("--leave-out", is_flag=True, help="Leave out what is held out for testing instead of refusing.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    tasks: tuple[str, ...],
    out: str,
    repos: str | None,
    suffix: tuple[str, ...],
    purpose: str,
    leave_out: bool,
    as_json: bool,
) -> None:
    """Mine tasks in SWE-bench's format, of any repository, for rows to train on.

    The issue is the query; the source files that the patch changes and that existed before are the
    positives. Repositories and commits that an evaluation tests on are refused.

    \b
      firstpage mine swebench --tasks rebench.jsonl.gz --leave-out --out rows.jsonl.gz
    """
    from ..eval.repositories import find_repositories

    count = count_tasks(tasks)
    places: dict[str, Path] = find_repositories(repos, repositories_of(tasks)) if repos else {}
    with task_progress("mining", count) as step:
        summary = mine_swebench(tasks, out, places, suffix or SOURCES, purpose, leave_out, step)
    if as_json:
        print(json.dumps(summary))
        return
    print(f"{summary['rows']:,} rows of {summary['tasks']:,} tasks")
    for reason, dropped in summary["dropped"].items():
        print(f"  {dropped:>7,}  {reason}")
