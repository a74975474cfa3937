"""The learned ranker: trees over what words, names, places, history and meaning say of a file.

It was trained on files of repositories, as ``docs/learned.md`` tells. An answer with anything in it that
stands for no file is ranked by `Hybrid`.
"""

from collections.abc import Collection, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError, MissingExtraError
from ..core.items import Item, Query
from ..core.values import ranking
from . import shipped
from .bi_encoder import COLUMNS as NEURAL
from .bi_encoder import similarities
from .corpus import Corpus, corpus_of
from .hybrid import Hybrid
from .signals import signals
from .trees import Trees, load_trees

# In the folder of a fused ranker: the trees for files of a commit, whose words, names and history are known,
# and for those of an answer, of which nothing else is; and the bi-encoder that both were trained with.
TREES = {"commit": "commit.json", "answer": "answer.json"}
ENCODER = "encoder"
MOST = 1000  # items that the trees judge at once


class Fused:
    """A file's probable worth, from all signals together.

    Args:
        folder: that ``firstpage train fusion`` made; the package brings one.

    Raises:
        InputError: the weights are damaged.
        MissingExtraError: what reads them is not installed.
    """

    name = "fused"

    def __init__(self, folder: Path = shipped.FUSED) -> None:
        self._trees = {kind: _trees(folder / name) for kind, name in TREES.items()}
        self._encoder = folder / ENCODER
        if not shipped.readable() and any(
            map(is_neural, chain(*(one.columns for one in self._trees.values())))
        ):
            raise MissingExtraError("the learned ranker", "learned")

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """How likely each is to be one of those looked for, as far as files of repositories tell.

        Of more than `MOST` items only the best by `Hybrid` are judged so, which takes a millisecond each; the
        others follow in its order.

        Returns:
            Shape ``(len(items),)``, between 0 and 1.
        """
        if not all(item.path for item in items):
            return Hybrid().values(query, items)
        if len(items) <= MOST:
            return self._likely(query, items)
        first = Hybrid().values(query, items)
        order = ranking(first)
        best, others = order[:MOST], order[MOST:]
        values = np.zeros(len(items))
        values[best] = self._likely(query, [items[place] for place in best])
        share = first[others] / max(first[others].max(), np.finfo(float).tiny)
        values[others] = values[best].min() / 2 * share
        return values

    def _likely(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        trees = self._trees["commit" if _commit_of(items) else "answer"]
        columns = features(query, items, self._encoder, needed=trees.columns)
        if unknown := [name for name in trees.columns if name not in columns]:
            raise InputError(
                f"the trees of the fused ranker ask for '{unknown[0]}', which no file has; train them"
            )
        rows = np.stack([columns[name] for name in trees.columns], axis=1)
        return np.asarray(1 / (1 + np.exp(-trees.sums(rows))))


def features(
    query: Query, items: Sequence[Item], encoder: Path, needed: Collection[str] = NEURAL
) -> dict[str, NDArray[np.float64]]:
    """What the trees rank by; the neural columns only where one of them is needed.

    Args:
        query: the query.
        items: of one corpus, where they say which; else they are their own corpus.
        encoder: the folder of the bi-encoder's weights.
        needed: names of columns.

    Returns:
        Arrays of shape ``(len(items),)`` by name.
    """
    corpus, places = _corpus(items)
    columns = {name: values[places] for name, values in signals(query, corpus).items()}
    if any(map(is_neural, needed)):
        cosines = similarities(encoder).columns(query, items)
        columns |= dict(zip(NEURAL, cosines.T, strict=True))
        below = cosines - cosines.max(axis=0, initial=-1.0)
        columns |= {f"{name}/best": values for name, values in zip(NEURAL, below.T, strict=True)}
    return columns


def is_neural(column: str) -> bool:
    """Whether the bi-encoder works a column out."""
    return column.removesuffix("/best") in NEURAL


def _corpus(items: Sequence[Item]) -> tuple[Corpus, NDArray[np.intp]]:
    """The corpus that all items are of with their places in it, or the one that they make."""
    if known := _commit_of(items):
        return known, np.array([item.metadata["place"] for item in items], dtype=np.intp)
    made = corpus_of([item.path or "" for item in items], [item.content or item.text for item in items])
    return made, np.arange(len(items), dtype=np.intp)


def _commit_of(items: Sequence[Item]) -> Corpus | None:
    """The corpus of the commit that all items are of."""
    named = items[0].metadata.get("corpus") if items else None
    same = isinstance(named, Corpus) and all(item.metadata.get("corpus") is named for item in items)
    return named if same else None


@cache
def _trees(file: Path) -> Trees:
    return load_trees(file)
