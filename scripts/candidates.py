"""``firstpage candidates``: the files of a commit that a query is about."""

import json

import click

from ..core.git import GitStore
from ..core.items import Query
from ..core.values import evaluate, ranking
from ..readers import value_functions
from ..readers.blob_index import BlobIndex
from ..readers.candidates import LIMIT, candidate_generators, candidate_items
from ..readers.sources import SOURCES
from .options import index_progress, query_text, suffixes


@click.command("candidates")
@click.option(
    "--query", "-q", required=True, help="What the agent looks for; @FILE reads it from a file, @@ is an @."
)
@click.option(
    "--repo", default=".", show_default=True, help="A work tree, a .git folder or a bare repository."
)
@click.option("--commit", default="HEAD", show_default=True, help="Whose files; no checkout is made.")
@click.option("--generator", "-g", default="union", show_default=True, help="See below.")
@click.option("--limit", default=LIMIT, show_default=True, type=click.IntRange(1), help="Of each generator.")
@click.option("--value-function", "-f", help="Ranks what was generated; the generator's order if not given.")
@suffixes
@click.option("--null", "-z", is_flag=True, help="End each path with a NUL instead of a new line.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def command(
    query: str,
    repo: str,
    commit: str,
    generator: str,
    limit: int,
    value_function: str | None,
    suffix: tuple[str, ...],
    null: bool,
    as_json: bool,
) -> None:
    """List the files of a commit that a query may be about, read from git's object store.

    \b
      firstpage candidates -q "the cache is stale after a reload"
      firstpage candidates -q @issue.txt --commit v2.1 -g grep -f hybrid --json

    Generators: grep, bm25, names, history, their unions union (the first two)
    and wide (all four), dense and everything (wide and dense). The last two read
    every file of the commit the first time, which may take minutes.
    """
    asked = Query(query_text(query))
    makes = candidate_generators.create(generator)
    with GitStore(repo) as store, BlobIndex(store) as index, index_progress("indexing") as progress:
        corpus = index.corpus(commit, suffix or SOURCES, progress)
        items = candidate_items(corpus, makes.candidates(corpus, asked, limit))
        rows = [{key: item.metadata[key] for key in ("path", "blob")} for item in items]
        if value_function:
            values = evaluate(value_functions.create(value_function), asked, items)
            rows = [rows[place] | {"value": float(values[place])} for place in ranking(values)]
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print(row["path"], end="\0" if null else "\n")
