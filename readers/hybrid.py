"""The default without any training: what a file says, what it defines, where it lies, whether it is named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.items import Item, Query
from .bm25 import length_in_terms, postings
from .definitions import DEFINED
from .mentions import CODE, TITLE, name_weights, path_finder, term_weights
from .testfiles import demoted
from .words import words


@dataclass(frozen=True, slots=True)
class Weights:
    """The constants of `Hybrid`, chosen on the development tasks: ``eval/results/hybrid_dev/table.md``.

    Args:
        k1: of BM25 over contents; above the usual 1.2, as that code repeats a name says more than that prose
            repeats a word.
        definitions: of the names that a file defines; BM25 over contents weighs 1.
        path: of BM25 over paths.
        named: of being named by the query.
        frames: of standing in its traceback.
        title: what a term of the query's title weighs more.
        code: what a term of its code weighs, as a part of what it would in prose.
        test: what is left of the value of a test.
        beside: what is left of the value of a file beside the product.
    """

    k1: float = 4.0
    definitions: float = 0.3
    path: float = 0.3
    named: float = 0.5
    frames: float = 1.0
    title: float = TITLE
    code: float = CODE
    test: float = 0.1
    beside: float = 0.5


WEIGHTS = Weights()

Signals = Mapping[str, NDArray[np.float64]]


class Hybrid:
    """BM25 over contents, defined names and paths, plus the files that the query names; tests demoted."""

    name = "hybrid"

    def __init__(self, weights: Weights = WEIGHTS) -> None:
        self.weights = weights

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """Each signal as a part of its best value, weighted and summed.

        Returns:
            Shape ``(len(items),)``, >= 0; 0 for an item that shares nothing with the query.
        """
        weights = self.weights
        return weighted(SignalFinder(query, items).signals(weights.k1, weights.title, weights.code), weights)


class SignalFinder:
    """What items and a query have in common, before any weight: found once, it can be weighed many times."""

    def __init__(self, query: Query, items: Sequence[Item]) -> None:
        bodies = [item.content or item.text for item in items]
        defined = (list(dict.fromkeys(found["name"] for found in DEFINED.finditer(body))) for body in bodies)
        self._query = query
        self._paths = [item.path or "" for item in items]
        self._contents = postings(term_weights(query), map(words, bodies))
        # With k1 = 0 how often does not count: the sum of the idf of the names that it defines.
        self._definitions = relative(postings(name_weights(query), defined, _whole).scores(k1=0))

    def signals(self, k1: float, title: float, code: float) -> Signals:
        """What `weighted` takes; the arguments are those of the `Weights` that shape single signals."""
        terms = term_weights(self._query, title, code)
        contents = replace(self._contents, weights=np.array(list(terms.values()), dtype=np.float64))
        return {
            "contents": relative(contents.scores(k1=k1)),
            "definitions": self._definitions,
            **path_signals(self._query, terms, self._paths),
        }


def path_signals(query: Query, weights: Mapping[str, float], paths: Sequence[str]) -> Signals:
    """What paths alone say: BM25 of their terms, whether the query names them, whether they are demoted.

    Args:
        query: the query.
        weights: of its terms.
        paths: without an ending they are read as they are; an empty one is worth nothing.

    Returns:
        ``path``, ``named``, ``frames``, ``test`` and ``beside``: shape ``(len(paths),)`` each, from 0 to 1.
    """
    finder = path_finder(paths)
    test, beside = demoted(query, paths)
    return {
        "path": relative(postings(weights, map(path_words, paths), length=length_in_terms).scores()),
        "named": finder.named(query.text),
        "frames": finder.frames(query.text),
        "test": test.astype(np.float64),
        "beside": beside.astype(np.float64),
    }


def weighted(signals: Signals, weights: Weights) -> NDArray[np.float64]:
    """The values that signals amount to; names that are defined may be unknown."""
    by_path = (
        weights.path * signals["path"] + weights.named * signals["named"] + weights.frames * signals["frames"]
    )
    value = signals["contents"] + weights.definitions * signals.get("definitions", 0.0) + by_path
    return value * kept(signals["test"], signals["beside"], weights)


def kept(test: NDArray[Any], beside: NDArray[Any], weights: Weights = WEIGHTS) -> NDArray[np.float64]:
    """The part of its value that each path keeps, by whether it is a test or beside the product."""
    return np.asarray(weights.test**test * weights.beside**beside)


def relative(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores as parts of the best of them; unchanged where all are 0."""
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def _whole(name: str) -> tuple[str]:
    """A name is indexed under itself alone."""
    return (name,)


@lru_cache(maxsize=1 << 16)
def path_words(path: str) -> tuple[str, ...]:
    """The words of a path without its ending, looked for once: a commit's paths are those of the last."""
    return tuple(words(stem(path)))


def stem(path: str) -> str:
    """A path without the ending of its file name.

    Example:
        >>> stem("a/x.py")
        'a/x'
    """
    folder, slash, name = path.rpartition("/")
    return folder + slash + (name.rpartition(".")[0] or name)
