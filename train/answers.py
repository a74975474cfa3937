"""Mined rows as answers of a tool: what ``firstpage select`` reads, which knows of no repository.

An answer lists some files, as a search does, and shows of each its path, the lines that were found, or, where
`core.root` reads them, the bodies.
"""

from collections.abc import Iterator, Sequence

from ..core.items import Item, Query
from ..readers.candidates import Union, candidate_items
from ..readers.corpus import Corpus
from ..readers.keywords import keywords

FORMS = ("bodies", "hits", "paths")

_LIMIT = 30  # of each of the two generators whose union is the answer
_SOUGHT = 3  # keywords whose lines are shown
_HITS = 10  # of a file that are shown


def answer(corpus: Corpus, query: Query, form: str) -> list[Item]:
    """Items of the files that a search for the query would list, in tree order, with what it shows of them.

    Args:
        corpus: of a commit.
        query: the query.
        form: one of `FORMS`.
    """
    items = candidate_items(corpus, sorted(Union().candidates(corpus, query, _LIMIT).tolist()))
    if form == "hits":
        return list(_hits(items, [word.lower() for word in keywords(query)[:_SOUGHT]]))
    kept = ("path", "blob") if form == "bodies" else ("path",)
    return [
        Item(item.id, item.text, item.content if form == "bodies" else None,
             {name: item.metadata[name] for name in kept})
        for item in items
    ]  # fmt: skip


def _hits(items: Sequence[Item], sought: Sequence[str]) -> Iterator[Item]:
    """The items whose bodies hold one of the words, with the first lines that do."""
    for item in items:
        lines = enumerate((item.content or "").split("\n"), 1)
        found = [
            f"{item.path}:{number}:{line[:200]}"
            for number, line in lines
            if any(word in line.lower() for word in sought)
        ]
        if found:
            yield Item(item.id, "\n".join(found[:_HITS]), None, {"path": item.path})
