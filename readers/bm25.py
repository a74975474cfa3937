"""BM25 over whatever can say how often each query term stands in each document."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.items import Item, Query
from .words import terms, words

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
    return Counter(term for word in words(query.text) for term in terms(word))


def postings(weights: Mapping[str, float], documents: Iterable[Sequence[str]]) -> Postings:
    """The postings of documents that are given as lists of terms."""
    position = {term: place for place, term in enumerate(weights)}
    document: list[int] = []
    term: list[int] = []
    count: list[int] = []
    lengths: list[int] = []
    for place, listed in enumerate(documents):
        lengths.append(len(listed))
        found = Counter(name for name in listed if name in position)
        document += [place] * len(found)
        term += [position[name] for name in found]
        count += found.values()
    return Postings(
        np.array(document, dtype=np.intp),
        np.array(term, dtype=np.intp),
        np.array(count, dtype=np.float64),
        np.array(lengths, dtype=np.float64),
        np.array(list(weights.values()), dtype=np.float64),
    )


class BM25:
    """BM25 of the query over the items' content, where an item has any, else over its text."""

    name = "bm25"

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """Shape ``(len(items),)``, >= 0; 0 for an item that shares no term with the query."""
        bodies = (item.content or item.text for item in items)
        documents = ([term for word in words(body) for term in terms(word)] for body in bodies)
        return postings(query_weights(query), documents).scores()
