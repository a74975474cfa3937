import math

import numpy as np
import pytest
from firstpage.eval.measures import first_rank, included, last_rank, p_at


@pytest.mark.parametrize(
    ("gold", "total", "first", "last"),
    [
        ([], 1, math.inf, math.inf),
        ([False, False], 1, math.inf, math.inf),
        ([True], 1, 1, 1),
        ([False, True, False, True], 2, 2, 4),
        ([False, True, False, True], 3, 2, math.inf),
        ([False], 0, math.inf, math.inf),
    ],
)
def test_ranks(gold: list[bool], total: int, first: float, last: float) -> None:
    page = np.array(gold, dtype=np.bool_)
    assert first_rank(page) == first
    assert last_rank(page, total) == last


def test_p_at_k_keeps_every_task_in_the_denominator() -> None:
    ranks = np.array([1, 3, 11, np.inf])
    assert [p_at(ranks, k).mean() for k in (1, 3, 10, 50)] == [0.25, 0.5, 0.5, 0.75]


def test_inclusion_is_p_at_any_depth() -> None:
    assert included(np.array([1, 500, np.inf])).tolist() == [True, True, False]
