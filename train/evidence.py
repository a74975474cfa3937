"""Rows from evidence sets: a question about a long document, and where in it the evidence stands.

A row::

    {"source": "evidence", "set": "covidqa", "doc_id": "covidqa-0", "id": "covidqa-200423-262",
     "query": "What is the main cause …", "spans": [[370, 466]], "split": "train"}

Spans are half-open offsets in characters into the document's text, which stays in the set.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from .guard import digest, document_held_out, refusal
from .rows import Row, field, read_rows, write_rows

SPLITS = ("train", "dev")
DEV_SHARE = 10  # in a hundred documents

_SHORT = {"Document Name", "Parties"}  # CUAD's; short strings that stand in many places, as its dates do


def mine_evidence(
    sets: Sequence[str | Path],
    out: str | Path,
    split: str | None = None,
    progress: Callable[[], None] | None = None,
) -> dict[str, Any]:
    """Writes the rows of evidence sets, in their order.

    Args:
        sets: files of documents, a row each.
        out: file to write; gzipped if it ends in ``.gz``.
        split: ``train`` or ``dev``; both if None.
        progress: called after each document.

    Returns:
        Documents, questions, rows and why questions made none.

    Raises:
        InputError: a set cannot be read, a document is there twice or held out, a span does not hold its
            evidence, or nothing makes a row.
        RunError: the file cannot be written.
    """
    tally = {"documents": 0, "questions": 0}
    dropped: Counter[str] = Counter()

    def rows() -> Iterator[Row]:
        for name, document, label in _documents(sets):
            tally["documents"] += 1
            part = split_of(document["text"])
            for row, reason in _rows(name, document):
                tally["questions"] += 1
                if reason or split not in {None, part}:
                    dropped[reason or "other split"] += 1
                else:
                    yield {"source": "evidence", "set": label, **row, "split": part}
            if progress:
                progress()

    written = write_rows(out, rows())
    if not written:
        reasons = ", ".join(f"{reason} {number}" for reason, number in dropped.most_common()) or "it is empty"
        raise InputError(f"no question of '{sets[0]}' makes a row ({reasons})")
    return tally | {"rows": written, "dropped": dict(dropped.most_common())}


def split_of(text: str) -> str:
    """The part a document belongs to, by its words alone: a copy under another name is in the same part."""
    place = int.from_bytes(hashlib.sha256(digest(text).encode()).digest()[:8])
    return "dev" if place % 100 < DEV_SHARE else "train"


def count_documents(sets: Sequence[str | Path]) -> int:
    """How many documents the sets hold.

    Raises:
        InputError: a set cannot be read.
    """
    return sum(1 for path in sets for _ in read_rows(path))


def _documents(sets: Sequence[str | Path]) -> Iterator[tuple[str, Row, str]]:
    seen: set[tuple[str, str]] = set()
    for path in map(Path, sets):
        label = path.name.partition(".")[0]
        for name, document in read_rows(path):
            key = (label, field(name, document, "doc_id"))
            if key in seen:
                raise InputError(f"{name} repeats the document '{key[1]}'")
            seen.add(key)
            if why := document_held_out(key[1], field(name, document, "text")):
                raise refusal(why, name)
            yield name, document, label


def _rows(name: str, document: Row) -> Iterator[tuple[Row, str]]:
    """Each question as a part of a row, with why it makes none."""
    text = document["text"]
    for place, question in enumerate(field(name, document, "questions", list), 1):
        where = f"{name}, question {place}"
        if not isinstance(question, dict):
            raise InputError(f"{where} is no object")
        query = field(where, question, "question").strip()
        spans = sorted(_spans(where, question, len(text)))
        for evidence, (start, end) in zip(question.get("evidence") or (), question["spans"], strict=False):
            if text[start:end] != evidence:
                raise InputError(f"{where} has a span, {start} to {end}, that does not hold its evidence")
        category = str(question.get("category", ""))
        reason = "" if query else "no text"
        if category in _SHORT or category.endswith(" Date"):
            reason = "short category"
        elif not spans:
            reason = "no evidence"
        row = {
            "doc_id": document["doc_id"],
            "id": field(where, question, "id"),
            "query": query,
            "spans": spans,
        }
        yield row, reason


def _spans(where: str, question: Row, length: int) -> list[list[int]]:
    spans = field(where, question, "spans", list)
    for span in spans:
        whole = isinstance(span, list) and len(span) == 2 and all(type(number) is int for number in span)
        if not whole or not 0 <= span[0] < span[1] <= length:
            raise InputError(f"{where} has the span {span}, which is none of its text of {length} characters")
    return [list(span) for span in {tuple(span): None for span in spans}]
