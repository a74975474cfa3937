"""What a model is worth on the development set: it ranks each question's positives among the negatives."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sentence_transformers.base.evaluation import BaseEvaluator

from .inputs import Question

if TYPE_CHECKING:
    from sentence_transformers.base.model import BaseModel

METRIC = "mrr@10"
DEPTH = 10

Scores = Callable[[Any, Sequence[Question]], list[NDArray[np.float32]]]


class Reranking(BaseEvaluator):
    """MRR@10 and the share of questions with a positive in first place.

    A positive comes after every negative that scores the same or no number at all: a model that answers
    everything alike gets no credit for the order in which it is asked.

    Args:
        questions: to rank for; at least one.
        scores: of a model and the questions: for each, the scores of its positives and then its negatives.

    Example:
        >>> Reranking([Question("q", ["good"], ["bad", "worse"])], scores)(model)  # doctest: +SKIP
        {'mrr@10': 0.5, 'top@1': 0.0}
    """

    def __init__(self, questions: Sequence[Question], scores: Scores) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.questions = questions
        self.scores = scores
        self.primary_metric = METRIC

    def __call__(
        self,
        model: "BaseModel",
        output_path: str | None = None,  # noqa: ARG002
        epoch: float = -1,  # noqa: ARG002
        steps: int = -1,  # noqa: ARG002
    ) -> dict[str, float]:
        """The two figures, from 0 to 1; the other arguments are what the trainer gives."""
        ranks = [
            rank(scores[: len(question.positives)], scores[len(question.positives) :])
            for question, scores in zip(self.questions, self.scores(model, self.questions), strict=True)
        ]
        return {
            METRIC: fmean(1 / place if place <= DEPTH else 0.0 for place in ranks),
            "top@1": fmean(float(place == 1) for place in ranks),
        }


def rank(positives: NDArray[np.float32], negatives: NDArray[np.float32]) -> int:
    """The place of the best positive, from 1, behind all negatives that are not worse.

    Example:
        >>> rank(np.float32([0.1, 0.5]), np.float32([0.7, 0.5, 0.2]))
        3
    """
    best = np.max(positives)
    return 1 + int(np.count_nonzero(~(negatives < best)))
