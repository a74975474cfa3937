"""BM25 over whatever can say how often each query term stands in each document."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.items import Item, Query
from .words import counted, terms, words

# Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009, section 3.5.
K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class Postings:
    """How often the terms of a query stand in a collection of documents.

    Args:
        document: shape ``(m,)``, position of a document.
        term: shape ``(m,)``, position of a query term.
        count: shape ``(m,)``, how often the term stands in the document, >= 1; each pair appears once.
        lengths: shape ``(documents,)``, all terms of each document.
        weights: shape ``(terms,)``, weight of each query term.
    """

    document: NDArray[np.intp]
    term: NDArray[np.intp]
    count: NDArray[np.float64]
    lengths: NDArray[np.float64]
    weights: NDArray[np.float64]

    def scores(self, k1: float = K1, b: float = B) -> NDArray[np.float64]:
        """BM25 with Lucene's idf, ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative.

        Returns:
            Shape ``(documents,)``, >= 0.
        """
        total = self.lengths.size
        containing = np.bincount(self.term, minlength=self.weights.size)
        idf = np.log1p((total - containing + 0.5) / (containing + 0.5))
        mean = self.lengths.mean() if total else 0.0
        relative = self.lengths / mean if mean > 0 else np.ones(total)
        norm = k1 * (1 - b + b * relative)
        gain = self.count * (k1 + 1) / (self.count + norm[self.document])
        each = self.weights[self.term] * idf[self.term] * gain
        return np.bincount(self.document, weights=each, minlength=total).astype(np.float64)


def query_weights(query: Query) -> Counter[str]:
    """Each term of a query with the number of times it stands there."""
    return counted(query.text)


def postings(
    weights: Mapping[str, float],
    documents: Iterable[Sequence[str]],
    split: Callable[[str], Sequence[str]] = terms,
    length: Callable[[Sequence[str]], int] = len,
) -> Postings:
    """The postings of documents that are given as lists of words.

    Args:
        weights: of each query term.
        documents: the words of each.
        split: a word into what it is indexed under, all different; each distinct word is split once.
        length: of a document; `length_in_terms` where it is not to count words.
    """
    columns = _Columns({term: place for place, term in enumerate(weights)}, split)
    document: list[int] = []
    term: list[int] = []
    count: list[int] = []
    lengths: list[int] = []
    for place, listed in enumerate(documents):
        lengths.append(length(listed))
        found: dict[int, int] = {}
        for several in filter(None, map(columns.__getitem__, listed)):
            for column in several:
                found[column] = found.get(column, 0) + 1
        document += [place] * len(found)
        term += found
        count += found.values()
    return Postings(
        np.array(document, dtype=np.intp),
        np.array(term, dtype=np.intp),
        np.array(count, dtype=np.float64),
        np.array(lengths, dtype=np.float64),
        np.array(list(weights.values()), dtype=np.float64),
    )


def length_in_terms(listed: Sequence[str]) -> int:
    """How many terms a list of words has."""
    return sum(map(len, map(terms, listed)))


class _Columns(dict[str, tuple[int, ...]]):
    """The positions of the query terms that a word holds, looked for at its first appearance."""

    def __init__(self, position: Mapping[str, int], split: Callable[[str], Sequence[str]]) -> None:
        self._position = position
        self._split = split

    def __missing__(self, word: str) -> tuple[int, ...]:
        position = self._position
        found = self[word] = tuple(position[part] for part in self._split(word) if part in position)
        return found


class BM25:
    """BM25 of the query over the items' content, where an item has any, else over its text."""

    name = "bm25"

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """Shape ``(len(items),)``, >= 0; 0 for an item that shares no term with the query."""
        documents = (words(item.content or item.text) for item in items)
        return postings(query_weights(query), documents, length=length_in_terms).scores()
