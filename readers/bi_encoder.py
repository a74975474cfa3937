"""The bi-encoder: how near the chunks of an item are to the query in the space of a trained encoder."""

from collections.abc import Sequence
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.items import Item, Query
from . import shipped
from .chunks import chunks, document, outline
from .mentions import parts
from .static_encoder import StaticEncoder
from .vectors import VectorStore, rounded

_MOST_OF_QUERY = 20_000  # characters
_MOST_CHUNKS = 400  # of a file; a larger one is judged by its beginning
_BATCH = 64  # items whose texts and vectors are in memory, and written, at once
_BEST = 3  # chunks whose mean stands for a file beside its best one

# The columns that `Similarities` gives: of the query's parts, how near the outline and the chunks are.
COLUMNS = (
    *(f"outline {part}" for part in ("whole", "title", "prose", "code")),
    *(f"chunk {part}" for part in ("whole", "title", "prose", "code")),
    *("chunks whole", "chunks title"),
)


class BiEncoder:
    """The mean cosine between the query's title and the three nearest chunks of an item, 0 where it is below.

    Args:
        folder: of the encoder's weights, as `train.export` makes it. The package brings one.

    Raises:
        InputError: the weights are damaged.
        MissingExtraError: what reads them is not installed.
    """

    name = "bi-encoder"

    def __init__(self, folder: Path = shipped.ENCODER) -> None:
        self._similarities = similarities(folder)

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """Shape ``(len(items),)``, from 0 to 1."""
        found = self._similarities.columns(query, items)
        return np.maximum(0.0, found[:, COLUMNS.index("chunks title")])


class Similarities:
    """Cosines of the parts of a query with the outline and chunks of items, whose vectors are kept on disk.

    Args:
        folder: of the encoder's weights.
    """

    def __init__(self, folder: Path) -> None:
        self._encoder = StaticEncoder(folder)

    def columns(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """Cosines.

        Returns:
            Shape ``(len(items), len(COLUMNS))``, from -1 to 1.
        """
        title, prose, code = (part[:_MOST_OF_QUERY] for part in parts(query))
        whole = query.text[:_MOST_OF_QUERY]
        asked = self._encoder.encode(
            [whole, title, prose if prose.strip() else title, code if code.strip() else title]
        )
        found = np.zeros((len(items), len(COLUMNS)))
        for start in range(0, len(items), _BATCH):
            vectors = self._vectors(items[start : start + _BATCH])
            for row, of_item in enumerate(vectors, start):
                cosines = (of_item @ asked.T).astype(np.float64)
                nearest = -np.sort(-(cosines[1:] if len(cosines) > 1 else cosines), axis=0)
                found[row, :4], found[row, 4:8] = cosines[0], nearest[0]
                found[row, 8:] = nearest[:_BEST, :2].mean(axis=0)
        return found

    def _vectors(self, items: Sequence[Item]) -> list[NDArray[np.float32]]:
        """Of each item the vector of its outline, then one a chunk: shape ``(1 + chunks, dimensions)``.

        Those of blobs are kept; an answer's own items have no hash to be kept by, and open no cache.
        """
        keys = [_key(item) for item in items]
        if not any(keys):
            return self._made(items)
        with VectorStore(self._encoder.hash) as store:
            kept = store.get(filter(None, keys))
            new = [(key, item) for key, item in zip(keys, items, strict=True) if key not in kept]
            made = self._made([item for _, item in new])
            # Where a clone lacks a blob its path alone was read, which is not what others shall find.
            whole = {
                key: vectors for (key, item), vectors in zip(new, made, strict=True) if key and item.content
            }
            store.put(whole)
        others = iter(made)
        return [kept[key] if key in kept else next(others) for key in keys]

    def _made(self, items: Sequence[Item]) -> list[NDArray[np.float32]]:
        texts = [_documents(item) for item in items]
        ends = np.cumsum([len(some) for some in texts[:-1]])
        return np.split(rounded(self._encoder.encode(list(chain(*texts)))), ends) if texts else []


@cache
def similarities(folder: Path) -> Similarities:
    """The one of a folder, made once a process."""
    return Similarities(folder)


def _key(item: Item) -> str:
    """Names what is embedded: path and blob, for the path is part of it; empty where there is no blob."""
    blob = item.metadata.get("blob", "")
    return f"{blob} {item.path}" if blob else ""


def _documents(item: Item) -> list[str]:
    text, path = item.content or item.text, item.path or ""
    return [outline(path, text), *(document(chunk) for chunk in chunks(path, text)[:_MOST_CHUNKS])]
