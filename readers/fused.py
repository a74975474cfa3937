"""The learned ranker: trees over what words, names, places, history and meaning say of a file.

It was trained on files of repositories, as ``docs/learned.md`` tells. Items that stand for no file are ranked
by `Hybrid`.
"""

from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError
from ..core.items import Item, Query
from .bi_encoder import COLUMNS as NEURAL
from .bi_encoder import similarities
from .corpus import Corpus, corpus_of
from .hybrid import Hybrid
from .signals import signals
from .trees import Trees, load_trees

TREES, ENCODER = "fused.json", "encoder"  # in the folder of a fused ranker


class Fused:
    """A file's probable worth, from all signals together.

    Args:
        folder: that ``firstpage train fusion`` made: `TREES`, and in `ENCODER` the bi-encoder that they were
            trained with.

    Raises:
        InputError: the weights are damaged.
        MissingExtraError: what reads them is not installed.
    """

    name = "fused"

    def __init__(self, folder: Path) -> None:
        self._trees = _trees(folder / TREES)
        self._encoder = folder / ENCODER

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """The logistic of the trees' sum, which keeps their order.

        Returns:
            Shape ``(len(items),)``, between 0 and 1.
        """
        if not all(item.path for item in items):
            return Hybrid().values(query, items)
        columns = features(query, items, self._encoder, needed=self._trees.columns)
        if unknown := [name for name in self._trees.columns if name not in columns]:
            raise InputError(
                f"the trees of the fused ranker ask for '{unknown[0]}', which no file has; train them"
            )
        rows = np.stack([columns[name] for name in self._trees.columns], axis=1)
        return np.asarray(1 / (1 + np.exp(-self._trees.sums(rows))))


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
    neural = {*NEURAL, *(f"{name}/best" for name in NEURAL)}
    if not neural.isdisjoint(needed):
        cosines = similarities(encoder).columns(query, items)
        columns |= dict(zip(NEURAL, cosines.T, strict=True))
        below = cosines - cosines.max(axis=0, initial=-1.0)
        columns |= {f"{name}/best": values for name, values in zip(NEURAL, below.T, strict=True)}
    return columns


def _corpus(items: Sequence[Item]) -> tuple[Corpus, NDArray[np.intp]]:
    """The corpus that all items are of with their places in it, or the one that they make."""
    named = items[0].metadata.get("corpus") if items else None
    if isinstance(named, Corpus) and all(item.metadata.get("corpus") is named for item in items):
        return named, np.array([item.metadata["place"] for item in items], dtype=np.intp)
    made = corpus_of([item.path or "" for item in items], [item.content or item.text for item in items])
    return made, np.arange(len(items), dtype=np.intp)


@cache
def _trees(file: Path) -> Trees:
    return load_trees(file)
