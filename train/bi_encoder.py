"""The bi-encoder: a query and its document come near each other, all other documents of the batch far."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.base.model import BaseModel
from sentence_transformers.sentence_transformer.losses import (
    CachedMultipleNegativesRankingLoss,
    MatryoshkaLoss,
    MultipleNegativesRankingLoss,
)
from torch import nn

from ..core.errors import InputError
from .bases import fit_length, load_base
from .config import BiEncoderConfig
from .inputs import Question, contrastive
from .static import static_embedding
from .training import Learner, Progress, run

if TYPE_CHECKING:
    import datasets


def train_bi_encoder(
    config: BiEncoderConfig, overwrite: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Trains a bi-encoder, see `training.run`.

    Example:
        >>> train_bi_encoder(read_config("bi.yaml", BiEncoderConfig))["after"]  # doctest: +SKIP
        {'mrr@10': 0.71, 'top@1': 0.6}
    """
    return run(BiEncoder(config), overwrite, progress)


class _Trainer(SentenceTransformerTrainer):
    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Does without the library's card, for which it would look through the data: `card` makes ours."""


class BiEncoder(Learner):
    """What `training.run` needs to know of a bi-encoder."""

    kind = "bi-encoder"
    trainer = _Trainer
    arguments = SentenceTransformerTrainingArguments
    idle_weights = True
    config: BiEncoderConfig

    def model(self) -> SentenceTransformer:
        """The base, or a static embedding made of it."""
        config = self.config
        if config.static:
            base = load_base(SentenceTransformer, "static", config.static)
            model = static_embedding(base, config.dimension, config.max_length)
        else:
            model = load_base(SentenceTransformer, "base", config.base)
            fit_length(model, config.max_length)
        dimension = model.get_embedding_dimension() or 0
        if large := [size for size in config.matryoshka if size > dimension]:
            raise InputError(f"matryoshka: the embedding has {dimension} dimensions, not {large[0]}")
        return model

    @property
    def by_repository(self) -> bool:
        """As configured."""
        return self.config.by_repository

    def data(self, examples: "datasets.Dataset", needed: bool = True) -> "datasets.Dataset":
        """A query, its positive and its negatives."""
        return contrastive(examples, self.config.negatives, needed)

    def loss(self, model: BaseModel) -> nn.Module:
        """Cross entropy of the positive among all documents of the batch, those of all processes."""
        config, embedding = self.config, cast(SentenceTransformer, model)
        shared: dict[str, Any] = {"scale": 1 / config.temperature, "gather_across_devices": True}
        loss: nn.Module
        if config.loss == "cached":
            loss = CachedMultipleNegativesRankingLoss(
                embedding, mini_batch_size=config.mini_batch_size, **shared
            )
        else:
            loss = MultipleNegativesRankingLoss(embedding, **shared)
        return MatryoshkaLoss(embedding, loss, list(config.matryoshka)) if config.matryoshka else loss

    def scores(self, model: Any, asked: Sequence[Question]) -> list[NDArray[np.float32]]:
        """Cosines; each text is embedded once."""
        texts = [text for one in asked for text in (one.query, *one.positives, *one.negatives)]
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        size = self.config.mini_batch_size
        told = model.encode(list(places), batch_size=size, normalize_embeddings=True, show_progress_bar=False)
        vectors = np.asarray(told, np.float32)
        return [
            vectors[[places[text] for text in (*one.positives, *one.negatives)]] @ vectors[places[one.query]]
            for one in asked
        ]
