"""Examples as trainers take them: in memory, after the guard has looked at them, in the columns of a loss.

An example is what ``firstpage mine negatives`` writes::

    {"source": "history", "id": "…", "repo": "…", "query": "…", "positive": "…", "negatives": ["…", …]}
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.items import Query
from ..readers.cross_encoder import told
from .dataset import in_memory, needs_datasets
from .guard import PURPOSES, check_rows
from .rows import Row, field, read_rows

if TYPE_CHECKING:
    import datasets

_TEXTS = ("source", "id", "repo", "query", "positive")


@dataclass(frozen=True, slots=True)
class Question:
    """A query of the development set with all that is known of it.

    Args:
        query: its text.
        positives: documents that it is about; at least one.
        negatives: others, none of them a positive; at least one.
    """

    query: str
    positives: Sequence[str]
    negatives: Sequence[str]


def load_examples(paths: Sequence[str | Path], purpose: str = "neural") -> "datasets.Dataset":
    """The examples of files, in their order.

    Args:
        paths: what ``firstpage mine negatives`` wrote.
        purpose: ``neural`` for weights to be trained on them; or ``fusion``, which may see the development
            tasks, and is right for a development set that only says when to stop.

    Returns:
        A `datasets.Dataset` in memory with the columns source, id, repo, query, positive and negatives.

    Raises:
        InputError: a file cannot be read, a row is no example or held out, or there is none.
        MissingExtraError: datasets is not installed.

    Example:
        >>> load_examples(["examples.jsonl.gz"])[0]["query"]  # doctest: +SKIP
        'RPC result backend recirculates final results on every state poll'
    """
    needs_datasets()
    if purpose not in PURPOSES:
        raise InputError(f"there is no purpose '{purpose}'; there are {' and '.join(PURPOSES)}")
    rows = [
        _example(name, row, purpose) for name, row in chain.from_iterable(map(read_rows, map(Path, paths)))
    ]
    if not rows:
        raise InputError(f"there is no example in {', '.join(map(str, paths))}")
    return in_memory(rows, _features((*_TEXTS, "negatives")))


def contrastive(examples: "datasets.Dataset", negatives: int, needed: bool = True) -> "datasets.Dataset":
    """Examples for a loss within a batch: query, positive, negative_1 and so on, a text each.

    Raises:
        InputError: ``needed`` is true and no example has so many negatives; those with fewer are left out.
    """
    names = [f"negative_{number}" for number in range(1, negatives + 1)]
    rows = [
        {"query": query, "positive": positive, **dict(zip(names, others, strict=True))}
        for query, positive, others in _tuples(examples, negatives)
        if len(others) == negatives
    ]
    if needed and not rows:
        raise InputError(f"negatives: no example has {negatives} of them; lower it or mine more")
    return in_memory(rows, _features(("query", "positive", *names)))


def lists(examples: "datasets.Dataset", negatives: int) -> "datasets.Dataset":
    """Examples for a loss over lists: query, documents and their labels, the positive's 1, first of all.

    The query is what a cross-encoder reads of it, see `readers.cross_encoder.told`; so it is in `pairs`.
    """
    rows = [
        {"query": told(Query(query)), "documents": [positive, *others], "labels": [1] + [0] * len(others)}
        for query, positive, others in _tuples(examples, negatives)
        if others
    ]
    _needs_rows(rows)
    return in_memory(rows, _features(("query", "documents", "labels")))


def pairs(examples: "datasets.Dataset", negatives: int) -> "datasets.Dataset":
    """Examples for a loss over pairs: query, document and label, which is 1 of a positive."""
    rows = [
        {"query": told(Query(query)), "document": document, "label": float(document == positive)}
        for query, positive, others in _tuples(examples, negatives)
        for document in (positive, *others)
        if others
    ]
    _needs_rows(rows)
    return in_memory(rows, _features(("query", "document", "label")))


def questions(examples: "datasets.Dataset") -> list[Question]:
    """Examples for ranking: one question for each source, repository, name and query.

    Raises:
        InputError: none has a negative.
    """
    found: dict[tuple[str, ...], tuple[dict[str, None], dict[str, None]]] = {}
    for row in examples:
        positives, negatives = found.setdefault(_key(row), ({}, {}))
        positives[row["positive"]] = None
        negatives |= dict.fromkeys(row["negatives"])
    asked = [
        Question(key[-1], tuple(positives), tuple(text for text in negatives if text not in positives))
        for key, (positives, negatives) in found.items()
    ]
    ranked = [question for question in asked if question.negatives]
    _needs_rows(ranked)
    return ranked


def _example(name: str, row: Mapping[str, Any], purpose: str) -> Row:
    example = {key: field(name, row, key) for key in _TEXTS}
    negatives = field(name, row, "negatives", list)
    if not all(isinstance(text, str) for text in negatives):
        raise InputError(f"{name} needs the field 'negatives', a list of strings")
    for key in ("query", "positive"):
        if not example[key].strip():
            raise InputError(f"{name} has nothing in the field '{key}'")
    # A document goes by its own name, or else by what stands for the repository.
    document = {"doc_id": row.get("doc_id", row["repo"])} if row["source"] == "evidence" else {}
    check_rows([(name, {**row, **document})], purpose)
    return {**example, "negatives": negatives}


def _tuples(examples: "datasets.Dataset", negatives: int) -> Iterator[tuple[str, str, list[str]]]:
    """Query, positive and so many negatives at most: none twice, and none that the query is about."""
    positives: dict[tuple[str, ...], set[str]] = {}
    keys = examples.select_columns(["source", "id", "repo", "query", "positive"])
    for row in keys:
        positives.setdefault(_key(row), set()).add(row["positive"])
    for row in examples:
        about = positives[_key(row)]
        others = [text for text in dict.fromkeys(row["negatives"]) if text not in about]
        yield row["query"], row["positive"], others[:negatives]


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["source"], row["repo"], row["id"], row["query"]


def _needs_rows(rows: Sequence[Any]) -> None:
    if not rows:
        raise InputError("no example has a negative; mine them with `firstpage mine negatives`")


def _features(names: Iterable[str]) -> dict[str, Any]:
    from datasets import Value

    text, number = Value("string"), Value("int64")
    others = {"negatives": [text], "documents": [text], "labels": [number], "label": Value("float32")}
    return {name: others.get(name, text) for name in names}
