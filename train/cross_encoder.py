"""The cross-encoder: it reads query and document together and says how well they go together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import CrossEncoder as Model
from sentence_transformers import CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.base.model import BaseModel
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss, LambdaLoss, ListNetLoss
from torch import nn

from ..core.items import Query
from ..readers.cross_encoder import told
from .bases import fit_length, load_base
from .config import CrossEncoderConfig
from .inputs import Question, lists, pairs
from .training import Learner, Progress, run

if TYPE_CHECKING:
    import datasets


def train_cross_encoder(
    config: CrossEncoderConfig, overwrite: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Trains a cross-encoder, see `training.run`.

    Example:
        >>> train_cross_encoder(read_config("cross.yaml", CrossEncoderConfig))["after"]  # doctest: +SKIP
        {'mrr@10': 0.78, 'top@1': 0.69}
    """
    return run(CrossEncoder(config), overwrite, progress)


class _Trainer(CrossEncoderTrainer):
    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Does without the library's card, for which it would look through the data: `card` makes ours."""


class CrossEncoder(Learner):
    """What `training.run` needs to know of a cross-encoder."""

    kind = "cross-encoder"
    trainer = _Trainer
    arguments = CrossEncoderTrainingArguments
    idle_weights = False  # several processes could not go forward several times for one step otherwise
    config: CrossEncoderConfig

    def model(self) -> Model:
        """The base with one output.

        A loss over lists trains differences of outputs, which are no probabilities: they stay as they are,
        also for whoever loads the model. With ``bce`` the output is a log-odds, and its sigmoid is given.
        """
        activation = nn.Sigmoid() if self.config.loss == "bce" else nn.Identity()
        model: Model = load_base(Model, "base", self.config.base, num_labels=1, activation_fn=activation)
        fit_length(model, self.config.max_length)
        return model

    def data(self, examples: "datasets.Dataset", needed: bool = True) -> "datasets.Dataset":  # noqa: ARG002
        """Lists of documents, or pairs."""
        form = pairs if self.config.loss == "bce" else lists
        return form(examples, self.config.negatives)

    def loss(self, model: BaseModel) -> nn.Module:
        """LambdaLoss with the weights of NDCG-Loss2++, ListNet, or cross entropy of balanced pairs."""
        cross_encoder = cast(Model, model)
        if self.config.loss == "bce":
            balance = torch.tensor(float(self.config.negatives))
            return BinaryCrossEntropyLoss(cross_encoder, pos_weight=balance)
        kind = LambdaLoss if self.config.loss == "lambda" else ListNetLoss
        return kind(cross_encoder, mini_batch_size=self.config.mini_batch_size)

    def scores(self, model: Any, asked: Sequence[Question]) -> list[NDArray[np.float32]]:
        """Outputs without an activation, which would make large ones the same."""
        together = [
            (told(Query(one.query)), text) for one in asked for text in (*one.positives, *one.negatives)
        ]
        outputs = model.predict(
            together,
            batch_size=self.config.mini_batch_size,
            activation_fn=nn.Identity(),
            show_progress_bar=False,
        )
        ends = np.cumsum([len(one.positives) + len(one.negatives) for one in asked])
        return np.split(np.asarray(outputs, np.float32), ends[:-1])
