"""A static embedding made of a model: a vector for each token of its vocabulary, and texts are their mean.

Each token goes through the model alone; principal components bring its output to the dimension wanted;
frequent tokens are scaled down. That is the recipe of model2vec (Minish Lab, 2024), whose weights are SIF's
(Arora, Liang and Ma 2017, "A simple but tough-to-beat baseline for sentence embeddings"): a / (a + p). The
frequency p is Zipf's, by the token's place in the vocabulary, which for WordPiece and BPE falls with
frequency.
"""

from typing import TYPE_CHECKING, Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from torch import Tensor

from ..core.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SIF = 1e-4  # a; model2vec's default
_TOKENS = 1024  # that go through the model at once, each with what a tokenizer puts around a text


def static_embedding(base: SentenceTransformer, dimension: int, max_length: int) -> SentenceTransformer:
    """A static embedding with the base's vocabulary.

    Args:
        base: model with a fast tokenizer.
        dimension: of the vectors, at most the base's.
        max_length: tokens of a text after which it is cut.

    Returns:
        A model of one module, with fp32 weights of shape (vocabulary, dimension).

    Raises:
        InputError: the dimension is larger than the base's, or the base has no fast tokenizer.
    """
    outputs = _token_outputs(base)
    if dimension > outputs.shape[1]:
        raise InputError(f"dimension: must be at most {outputs.shape[1]}, the base's, not {dimension}")
    weights = _components(outputs, dimension) * _sif(len(outputs))[:, None]
    # A copy, as the base keeps its own settings.
    tokenizer: Tokenizer = type(_tokenizer(base)).from_str(_tokenizer(base).to_str())
    tokenizer.enable_truncation(max_length)
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer, weights.float())], device=str(base.device))


def _tokenizer(base: SentenceTransformer) -> Any:
    tokenizer = getattr(base.tokenizer, "backend_tokenizer", None)
    if tokenizer is None:
        raise InputError("static: the base has no fast tokenizer; name another")
    return tokenizer


@torch.no_grad()
def _token_outputs(base: SentenceTransformer) -> Tensor:
    """What the base makes of each token alone; shape (vocabulary, base's dimension), float64."""
    size = _tokenizer(base).get_vocab_size()
    around = base.tokenizer("").input_ids  # such as [CLS] [SEP]
    half = (len(around) + 1) // 2
    before, after = torch.tensor(around[:half]), torch.tensor(around[half:])
    outputs = []
    base.eval()
    for start in range(0, size, _TOKENS):
        tokens = torch.arange(start, min(start + _TOKENS, size))
        parts = (before.expand(len(tokens), -1), tokens[:, None], after.expand(len(tokens), -1))
        ids = torch.cat(parts, dim=1).long().to(base.device)
        features = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        outputs.append(base(features)["sentence_embedding"].double().cpu())
    return torch.cat(outputs)


def _components(outputs: Tensor, dimension: int) -> Tensor:
    """The outputs along the directions in which they differ most."""
    centred = outputs - outputs.mean(dim=0)
    _, directions = torch.linalg.eigh(centred.T @ centred)  # ascending
    components: Tensor = centred @ directions.flip(1)[:, :dimension]
    return components


def _sif(size: int) -> Tensor:
    ranks = torch.arange(2, size + 2, dtype=torch.float64)  # as model2vec counts
    frequency = ranks.reciprocal() / ranks.reciprocal().sum()
    weights: Tensor = (_SIF + frequency).reciprocal() * _SIF
    return weights
