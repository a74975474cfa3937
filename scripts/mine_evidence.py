"""``firstpage mine evidence``: rows to train on from documents with questions and evidence."""

import json

import click

from ..train.evidence import SPLITS, count_documents, mine_evidence
from .options import task_progress


@click.command("evidence")
@click.option("--set", "sets", multiple=True, required=True, metavar="FILE", help="Evidence set; repeatable.")
@click.option(
    "--out", required=True, type=click.Path(), help="File of JSON Lines, gzipped if it ends in .gz."
)
@click.option("--split", type=click.Choice(SPLITS), help="A part of the documents; all by default.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(sets: tuple[str, ...], out: str, split: str | None, as_json: bool) -> None:
    """Mine long documents with questions and evidence spans for rows to train on.

    A set holds a document a line: doc_id, title, text and questions, each with id, question, evidence and
    spans. Documents are split by what they say, nine in ten to train. Documents that an evaluation tests on
    are refused.

    \b
      firstpage mine evidence --set covidqa.jsonl.gz --set cuad.jsonl.gz --split train --out rows.jsonl.gz
    """
    with task_progress("mining", count_documents(sets)) as step:
        summary = mine_evidence(sets, out, split, step)
    if as_json:
        print(json.dumps(summary))
        return
    print(
        f"{summary['rows']:,} rows of {summary['questions']:,} questions, {summary['documents']:,} documents"
    )
    for reason, dropped in summary["dropped"].items():
        print(f"  {dropped:>7,}  {reason}")
