"""``firstpage mine history``: rows to train on from git histories."""

import json
import re
from pathlib import Path

import click

from ..core.errors import InputError, RunError
from ..core.git import GitStore
from ..readers.sources import SOURCES
from ..train.history import mine_histories
from .options import index_progress, suffixes

_ADDRESS = re.compile(r"[/:]([^/:]+/[^/:]+?)(?:\.git)?/?$")


@click.command("history")
@click.option(
    "--repo", "repos", multiple=True, required=True, metavar="DIR",
    help="A work tree, a .git folder or a bare repository, or OWNER/NAME=DIR; repeatable.",
)  # fmt: skip
@click.option(
    "--out", required=True, type=click.Path(), help="File of JSON Lines, gzipped if it ends in .gz."
)
@click.option("--commits", type=click.IntRange(1), help="The newest of each repository; all by default.")
@suffixes
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    repos: tuple[str, ...], out: str, commits: int | None, suffix: tuple[str, ...], as_json: bool
) -> None:
    """Mine git histories for rows to train on.

    A commit's message is the query; the source files that it changed, and the functions in them, are the
    positives, as they were in the parent commit. Merges of squashed commits and merge requests count too.
    Left out are bots, reverts, releases, chores, sweeps over many files, vendored and generated files.
    Killed and started again, it goes on where it stopped. Repositories that an evaluation tests on are
    refused.

    \b
      firstpage mine history --repo ~/src/celery --repo psf/black=black.git --out rows.jsonl.gz
    """
    with index_progress("mining") as progress:
        summary = mine_histories([_named(repo) for repo in repos], out, suffix or SOURCES, commits, progress)
    if as_json:
        print(json.dumps(summary))
        return
    pace = summary["commits_per_minute"]
    print(f"{summary['rows']:,} rows of {summary['commits']:,} commits, {pace:,} commits a minute")
    for reason, count in summary["dropped"].items():
        print(f"  {count:>7,}  {reason}")


def _named(repo: str) -> tuple[str, Path]:
    """The repository's name, as given, by its origin's address, or else its folder's; and the folder."""
    name, sign, place = repo.partition("=")
    if sign and not Path(repo).exists():
        if not name or not place:
            raise InputError(
                f"--repo '{repo}' must be a folder, or a name and a folder such as psf/black=black"
            )
        return name, Path(place)
    with GitStore(repo) as store:
        git_dir, address = store.git_dir, _origin(store)
    folder = git_dir.parent if git_dir.name == ".git" else git_dir
    return address or folder.name.removesuffix(".git"), Path(repo)


def _origin(store: GitStore) -> str:
    """``owner/name`` of the address that the repository was cloned from, if it was and from a host."""
    from ..train.changes import setting

    try:
        address = setting(store, "remote.origin.url")
    except RunError:
        return ""
    found = _ADDRESS.search(address) if re.match(r"\w+://|[\w.-]+@", address) else None
    return found[1] if found and not address.startswith("file:") else ""
