"""``firstpage select``: a tool's answer on standard input, a page of it on standard output."""

import json
import sys
from typing import Any

import click

from ..core.costs import CharacterCounter, NoVocabularyError, TokenCounter, token_counter
from ..core.errors import InputError
from ..core.formats import decode, encode, parse
from ..core.items import Query
from ..core.pages import paginate
from ..core.root import Root
from ..readers import DEFAULT, value_functions
from .options import query_text


@click.command("select")
@click.option(
    "--query", "-q", required=True, help="What the agent looks for; @FILE reads it from a file, @@ is an @."
)
@click.option(
    "--budget", "-b", default=2000, show_default=True, type=click.IntRange(0), help="Tokens a page."
)
@click.option("--page", type=click.IntRange(1), help="Which page to print; the first if not given.")
@click.option("--item", help="Print this one item whole instead of a page, whatever it costs.")
@click.option("--value-function", "-f", default=DEFAULT, show_default=True, help="What scores the items.")
@click.option("--form", default="auto", show_default=True, help="Form of the answer: see below.")
@click.option("--array", help="Where the items are in a JSON object, such as /data/items or data.items.")
@click.option("--root", help="Folder to read the bodies of listed files from, for scoring alone.")
@click.option("--tokens", default="chars4", show_default=True, help="Token counter: see below.")
@click.option("--fall-back", is_flag=True, help="Count chars4 where a vocabulary cannot be had, and say so.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the page with its items, values and costs as JSON."
)
@click.argument("answer", type=click.File("rb"), default="-")
def command(
    query: str,
    budget: int,
    page: int | None,
    item: str | None,
    value_function: str,
    form: str,
    array: str | None,
    root: str | None,
    tokens: str,
    fall_back: bool,
    as_json: bool,
    answer: Any,
) -> None:
    """Fit a tool's ANSWER (a file, or standard input) on a page of --budget tokens.

    The page holds whole items in the form of the answer, the best first, and ends with a line that tells
    what is left and how to get it.

    \b
      rg -n cache | firstpage select -q "stale cache after a reload" --root .
      gh issue list --json title,body -L 200 | firstpage select -q "crash on start" -b 1000
      git diff main | firstpage select -q "what changed in the parser" --page 2

    Forms: auto, paths, hits, rg-json, json, jsonl, log, diff, markdown, paragraphs,
    mcp.

    Token counters: chars4, rows (30 + len/4 a line), tiktoken:ENCODING, hf:NAME.
    """
    if item is not None and page is not None:
        raise InputError("--item prints an item instead of a page; give --item or --page")
    parsed = parse(decode(answer.read()), form, array=array)
    if root is not None:
        folder = Root(root)
        parsed.items = [folder.fill(one) for one in parsed.items]
    counter = _counter(tokens, fall_back)
    function = value_functions.create(value_function)
    pages = paginate(parsed, Query(query_text(query)), function, budget, counter)
    chosen = pages.page(page or 1) if item is None else pages.item(item)
    if as_json:
        report = pages.report(chosen) | {"form": parsed.form, "budget": budget, "tokens_by": counter.name}
        print(json.dumps(report | {"value_function": function.name}))
    else:
        sys.stdout.buffer.write(encode(chosen.text))


def _counter(tokens: str, fall_back: bool) -> TokenCounter:
    try:
        return token_counter(tokens)
    except NoVocabularyError as error:
        if not fall_back:
            raise
        click.echo(f"firstpage: chars4 counts instead: {error}", err=True)
        return CharacterCounter()
