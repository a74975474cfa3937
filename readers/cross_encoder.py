"""The cross-encoder: a transformer that reads the query and a piece of an item as one text.

It is far slower than all else here, so it reads little: of a file its outline and the chunks that share most
with the query, and of the query what `told` leaves.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError, MissingExtraError
from ..core.items import Item, Query
from ..core.values import ranking
from .bm25 import length_in_terms, postings
from .chunks import chunks, document, outline
from .mentions import parts, term_weights
from .words import shown, words

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder as Model

_TITLE, _PROSE, _CODE = 300, 600, 300  # characters of a query's parts that are read
_CHUNKS = 2  # of a file, besides its outline
_BATCH = 16  # pairs that go through the model at once


class CrossEncoder:
    """How well the query goes with the best of an item's outline and of the chunks that share most with it.

    Args:
        folder: of a model as ``firstpage train cross-encoder`` leaves it in ``model``, or any other that
            sentence-transformers loads as a cross-encoder with one output.

    Raises:
        InputError: the folder holds no model; or, with the first values, its weights are damaged.
        MissingExtraError: sentence-transformers is not installed.
    """

    name = "cross-encoder"

    def __init__(self, folder: Path) -> None:
        _find_library()
        _find_config(folder)
        self._folder = folder

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """The logistic of the model's output.

        Returns:
            Shape ``(len(items),)``, between 0 and 1.
        """
        return np.asarray(1 / (1 + np.exp(-self.outputs(query, items))))

    def outputs(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """The best output of each item's documents, any number; shape ``(len(items),)``."""
        from torch.nn import Identity

        asked, weights = told(query), term_weights(query)
        read = [documents(weights, item) for item in items]
        together = [(asked, text) for texts in read for text in texts]
        if not together:
            return np.zeros(0)
        # Loaded here and not before: a benchmark's processes are forked, which a device does not survive.
        found = load_cross_encoder(self._folder).predict(
            together, batch_size=_BATCH, activation_fn=Identity(), show_progress_bar=False
        )
        starts = np.cumsum([0, *map(len, read[:-1])])
        return np.maximum.reduceat(np.asarray(found, dtype=np.float64), starts)


def _find_library() -> None:
    if not all(map(find_spec, ("sentence_transformers", "torch"))):
        raise MissingExtraError("the cross-encoder", "train")


def _find_config(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise InputError(f"the folder '{folder}' holds no cross-encoder; name the `model` of a training")


def told(query: Query) -> str:
    r"""What of a query is read together with a document: its title, the beginning of its prose and its code.

    Example:
        >>> told(Query("Stale\n\nIt fails:\n\n    cache.get()\n"))
        'Stale\nIt fails:\ncache.get()'
    """
    title, prose, code = parts(query)
    body = prose.lstrip().removeprefix(title)
    pieces = (title[:_TITLE], " ".join(body.split())[:_PROSE], " ".join(code.split())[:_CODE])
    return shown("\n".join(filter(None, pieces)))


def documents(weights: Mapping[str, float], item: Item) -> list[str]:
    """An item's outline, then its chunks that share most with a query by BM25 among themselves.

    Args:
        weights: of the query's terms.
        item: any.
    """
    text, path = item.content or item.text, item.path or ""
    found = [document(chunk) for chunk in chunks(path, text)]
    shared = postings(weights, map(words, found), length=length_in_terms).scores()
    read = [outline(path, text), *(found[place] for place in ranking(shared)[:_CHUNKS])]
    return list(map(shown, read))


@cache
def load_cross_encoder(folder: Path) -> "Model":
    """The model of a folder, loaded once a process.

    Raises:
        InputError: it cannot be read, has numbers that are not finite, or more than one output.
        MissingExtraError: sentence-transformers is not installed.
    """
    _find_library()
    _find_config(folder)
    import torch
    from sentence_transformers import CrossEncoder as Loaded
    from transformers import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        model: Model = Loaded(str(folder), local_files_only=True)
        sound = all(bool(torch.isfinite(weight).all()) for weight in model.parameters())
    except Exception as error:  # each architecture has its own ways to fail
        raise InputError(f"the cross-encoder in {folder} cannot be read ({error}); train it again") from error
    if not sound or model.num_labels != 1:
        why = "has numbers that are not finite" if not sound else f"has {model.num_labels} outputs, not one"
        raise InputError(f"the cross-encoder in {folder} {why}; train it again")
    return model
