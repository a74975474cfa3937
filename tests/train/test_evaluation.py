import numpy as np
import pytest
from firstpage.train.evaluation import Reranking, rank
from firstpage.train.inputs import Question

NAN = float("nan")


@pytest.mark.parametrize(
    ("positives", "negatives", "place"),
    [
        ([0.9], [0.1, 0.2], 1),
        ([0.1, 0.5], [0.7, 0.2], 2),
        ([0.5], [0.5, 0.5], 3),  # the same for all is no credit
        ([NAN], [0.5, 0.5], 3),
        ([0.9], [NAN, 0.5], 2),
        ([float("-inf")], [float("-inf")], 2),
    ],
)
def test_a_positive_comes_after_all_that_are_not_worse(positives, negatives, place):
    assert rank(np.float32(positives), np.float32(negatives)) == place


def test_figures_are_means_over_the_questions():
    asked = [
        Question("a", ("p",), ("n",) * 11),
        Question("b", ("p", "q"), ("n",)),
        Question("c", ("p",), ("n",)),
    ]
    scores = [np.arange(12.0), np.array([0.0, 2.0, 1.0]), np.array([0.0, 1.0])]
    figures = Reranking(asked, lambda model, questions: scores)(None)
    assert figures == {"mrr@10": pytest.approx((0 + 1 + 1 / 2) / 3), "top@1": pytest.approx(1 / 3)}
