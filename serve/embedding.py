"""Bi-encoders as an engine runs them: texts to vectors of length 1."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError, MissingExtraError
from ..readers.static_encoder import MOST_TOKENS, TABLE, StaticEncoder
from .queueing import Unit


class StaticModel:
    """A table of token vectors, such as the one that comes with the package.

    Args:
        folder: of its weights.

    Raises:
        InputError: the weights are damaged.
        MissingExtraError: what reads them is not installed.
    """

    def __init__(self, folder: Path) -> None:
        self._encoder = StaticEncoder(folder)
        self.name = f"static encoder {self._encoder.hash[:8]}"
        self.dimensions, self.max_length = self._encoder.dimensions, MOST_TOKENS

    def encode(self, inputs: Sequence[str]) -> list[Unit]:
        """The tokens of texts; one without any counts as one."""
        return [
            Unit(ids[:MOST_TOKENS], max(1, min(len(ids), MOST_TOKENS)), len(ids) > MOST_TOKENS)
            for ids in self._encoder.tokens(inputs)
        ]

    def run(self, works: Sequence[Any]) -> NDArray[np.float32]:
        """Shape ``(len(works), dimensions)``; all zero for a text without tokens."""
        return self._encoder.vectors(works)


class TransformerModel:
    """A transformer that sentence-transformers loads.

    Args:
        folder: as ``firstpage train bi-encoder`` leaves it in ``model``.

    Raises:
        InputError: the folder holds no such model, or its weights are damaged.
        MissingExtraError: sentence-transformers is not installed.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise MissingExtraError("an embedder that is a transformer", "train") from None
        try:
            self._model = SentenceTransformer(str(folder), local_files_only=True)
        except Exception as error:  # each architecture has its own ways to fail
            raise InputError(f"the embedder in {folder} cannot be read ({error}); train it again") from error
        self.name = folder.name
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self.max_length = int(self._model.max_seq_length or MOST_TOKENS)

    def encode(self, inputs: Sequence[str]) -> list[Unit]:
        """Texts with their lengths; the model makes the tokens itself."""
        counted = self._model.tokenizer(list(inputs), truncation=False)["input_ids"]
        return [
            Unit(text, max(1, min(len(ids), self.max_length)), len(ids) > self.max_length)
            for text, ids in zip(inputs, counted, strict=True)
        ]

    def run(self, works: Sequence[Any]) -> NDArray[np.float32]:
        """Shape ``(len(works), dimensions)``."""
        found = self._model.encode(
            list(works), batch_size=len(works), normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(found, dtype=np.float32)


def load_embedder(folder: Path) -> StaticModel | TransformerModel:
    """The bi-encoder of a folder, of whichever kind it is.

    Raises:
        InputError: the folder holds none, or its weights are damaged.
        MissingExtraError: what reads it is not installed.
    """
    if (folder / TABLE).is_file() and not (folder / "modules.json").is_file():
        return StaticModel(folder)
    if not (folder / "modules.json").is_file():
        raise InputError(f"the folder '{folder}' holds no embedder; name the `model` of a training")
    return TransformerModel(folder)
