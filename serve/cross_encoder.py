"""The cross-encoder as an engine runs it: pairs of a query and a text, made into tokens apart from the model.

A score is the model's own output, a logit; `service` makes it a probability, once.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError
from ..readers.cross_encoder import load_cross_encoder
from .queueing import Unit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Direction = Literal["left", "right"]
Precision = Literal["auto", "fp32", "bf16"]

# A longer text is cut before it is made into tokens, as what is past that is not read: a megabyte would take
# a second and a hundred megabytes of memory. Where the rest has too few tokens, all of it is read after all.
_CHARACTERS = 64  # a token, at the most that is met in practice


@dataclass(frozen=True, slots=True)
class Pair:
    """What a cross-encoder reads together.

    Args:
        query: the query.
        text: the text.
        cut: the end at which what is too long loses its tokens.
    """

    query: str
    text: str
    cut: Direction = "right"


class CrossEncoderModel:
    """A folder's cross-encoder.

    Args:
        folder: as ``firstpage train cross-encoder`` leaves it in ``model``, or any other that
            sentence-transformers loads as a cross-encoder with one output.
        precision: of the numbers it computes with. ``auto`` is ``bf16`` on a card and on a processor that
            multiplies such numbers (AMX), else ``fp32``.
        compiled: whether `torch.compile` makes the model faster, after some slow first batches.
        max_length: tokens of a pair; the model's own where it reads no more.

    Raises:
        InputError: the folder holds no such model, or its weights are damaged.
        MissingExtraError: sentence-transformers is not installed.
    """

    def __init__(
        self, folder: Path, precision: Precision = "auto", compiled: bool = False, max_length: int = 512
    ) -> None:
        import torch

        loaded = load_cross_encoder(folder)
        transformer = loaded.model
        if transformer is None:
            raise InputError(f"the cross-encoder in {folder} is no transformer; train it again")
        self.name = folder.name
        self.max_length = min(max_length, loaded.max_seq_length or max_length)
        self.device = loaded.device
        self.precision = _precision(precision, self.device)
        weights: Any = transformer
        if self.precision == "bf16":
            # A copy, as what is loaded is shared with the value function of this folder.
            weights = deepcopy(weights).to(torch.bfloat16)
        self.transformer: Any = torch.compile(weights, dynamic=True) if compiled else weights
        self._names = set(loaded.tokenizer.model_input_names)
        self._padding = loaded.tokenizer.pad_token_id or 0
        self._tokenizers = {cut: self._tokenizer(loaded.tokenizer, cut) for cut in ("left", "right")}

    def encode(self, inputs: Sequence[Pair]) -> list[Unit]:
        """The tokens of pairs."""
        units = self._units(inputs, self.max_length * _CHARACTERS)
        for place, (pair, unit) in enumerate(zip(inputs, units, strict=True)):
            if unit.truncated and unit.length < self.max_length:
                (units[place],) = self._units([pair], None)
        return units

    def run(self, works: Sequence[Any]) -> NDArray[np.float32]:
        """The outputs, any number; shape ``(len(works),)``."""
        import torch

        with torch.inference_mode():
            tensors = {
                name: torch.from_numpy(one).to(self.device)
                for name, one in self.padded(works).items()
                if name in self._names
            }
            outputs: torch.Tensor = self.transformer(**tensors).logits
            return np.asarray(outputs[:, 0].float().cpu().numpy())

    def padded(self, works: Sequence[Any]) -> dict[str, NDArray[np.int64]]:
        """The tokens of a batch as a transformer takes them: shape ``(len(works), longest)`` each."""
        lengths = [len(ids) for ids, _ in works]
        shape = (len(works), max(lengths))
        ids = np.full(shape, self._padding, dtype=np.int64)
        types, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, (of_pair, kinds) in enumerate(works):
            ids[row, : lengths[row]], types[row, : lengths[row]] = of_pair, kinds
            mask[row, : lengths[row]] = 1
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}

    def _tokenizer(self, tokenizer: Any, cut: str) -> "Tokenizer":
        """One for each direction: a tokenizer that is changed while others use it mixes them up."""
        from tokenizers import Tokenizer

        made = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        made.no_padding()
        made.enable_truncation(self.max_length, strategy="longest_first", direction=cut)
        return made

    def _units(self, inputs: Sequence[Pair], most: int | None) -> list[Unit]:
        """Tokens of pairs, of whose texts at most so many characters are read."""
        units = []
        for cut, tokenizer in self._tokenizers.items():
            some = [(place, pair) for place, pair in enumerate(inputs) if pair.cut == cut]
            texts = [(_cut(pair.query, most, cut), _cut(pair.text, most, cut)) for _, pair in some]
            for (place, pair), text, encoded in zip(some, texts, tokenizer.encode_batch(texts), strict=True):
                shorter = bool(encoded.overflowing) or text != (pair.query, pair.text)
                units.append((place, Unit((encoded.ids, encoded.type_ids), len(encoded.ids), shorter)))
        return [unit for _, unit in sorted(units, key=lambda one: one[0])]


def _cut(text: str, most: int | None, cut: str) -> str:
    if most is None or len(text) <= most:
        return text
    return text[:most] if cut == "right" else text[-most:]


def _precision(asked: Precision, device: Any) -> str:
    """What ``auto`` stands for on this machine."""
    import torch

    if asked != "auto":
        return asked
    fast = torch.cuda.is_bf16_supported() if device.type == "cuda" else torch.cpu._is_amx_tile_supported()
    return "bf16" if fast else "fp32"
