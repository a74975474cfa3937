"""A bi-encoder that is one table of token vectors: a text is the mean of its tokens'.

Trained by ``firstpage train bi-encoder`` as sentence-transformers' `StaticEmbedding`. It encodes about a
hundred times more text a second than a small transformer, so that every chunk of every candidate is read.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError, MissingExtraError
from .words import shown

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST_TOKENS = 600  # of one text; the rest is not read
_BATCH = 512  # texts whose tokens' vectors are in memory at once

TABLE, TOKENIZER = "model.safetensors", "tokenizer.json"


class StaticEncoder:
    """The encoder of a folder.

    Args:
        folder: holds `TABLE`, with ``embedding.weight`` of shape ``(tokens, dimensions)``, as floating-point
            numbers or as int8 with ``scale`` of shape ``(tokens,)``, and `TOKENIZER`.

    Raises:
        InputError: a file is missing, cut off, of another architecture or has numbers that are not finite.
        MissingExtraError: safetensors or tokenizers is not installed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers, self._scale = _table(folder / TABLE)
        self._tokenizer = _tokenizer(folder / TOKENIZER)
        if self._tokenizer.get_vocab_size() > len(self._numbers):
            raise InputError(
                f"the weights in {folder} have {len(self._numbers)} token vectors for "
                f"{self._tokenizer.get_vocab_size()} tokens; export both from one training"
            )

    @property
    def dimensions(self) -> int:
        """Of a vector."""
        return int(self._numbers.shape[1])

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the weights and the vocabulary: vectors of one hash may be compared."""
        digest = hashlib.sha256()
        for name in (TABLE, TOKENIZER):
            digest.update((self._folder / name).read_bytes())
        return digest.hexdigest()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts.

        Returns:
            Shape ``(len(texts), dimensions)``, each of length 1, or 0 for a text without tokens.
        """
        parts = [
            self.vectors(self.tokens(texts[start : start + _BATCH])) for start in range(0, len(texts), _BATCH)
        ]
        return np.concatenate(parts) if parts else self.vectors([])

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of texts, all of them."""
        encoded = self._tokenizer.encode_batch_fast(list(map(shown, texts)), add_special_tokens=False)
        return [one.ids for one in encoded]

    def vectors(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Vectors of texts by their tokens, as `encode`; of each text the first `MOST_TOKENS` are read."""
        sizes = np.array([min(len(ids), MOST_TOKENS) for ids in tokens], dtype=np.intp)
        filled = np.flatnonzero(sizes)
        vectors = np.zeros((len(tokens), self.dimensions), dtype=np.float32)
        if filled.size:
            flat = np.array([id for ids in tokens for id in ids[:MOST_TOKENS]], dtype=np.intp)
            starts = np.concatenate([[0], np.cumsum(sizes[filled])[:-1]])
            found = self._numbers[flat].astype(np.float32) * self._scale[flat, None]
            sums = np.add.reduceat(found, starts, axis=0)
            vectors[filled] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
        return vectors


def _table(file: Path) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """The numbers of all tokens as they are stored, and the scale of each token's."""
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError:
        raise MissingExtraError("the learned ranker", "learned") from None
    try:
        tensors = load_file(file)
    except (OSError, SafetensorError) as error:
        raise InputError(f"the weights {file} cannot be read ({error}); export them again") from error
    table, scale = tensors.get("embedding.weight"), tensors.get("scale")
    if table is None or table.ndim != 2 or (scale is not None and scale.shape != table.shape[:1]):
        raise InputError(f"the weights {file} are not those of a static embedding; export them again")
    scales = np.ones(len(table), np.float32) if scale is None else scale.astype(np.float32)
    if not (np.isfinite(scales).all() and (table.dtype == np.int8 or np.isfinite(table).all())):
        raise InputError(f"the weights {file} have numbers that are not finite; train or export them again")
    return table, scales


def _tokenizer(file: Path) -> "Tokenizer":
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError("the learned ranker", "learned") from None
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # tokenizers raises nothing more exact
        raise InputError(f"the vocabulary {file} cannot be read ({error}); export it again") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
