"""What a page is worth: ranks of the gold on it, p@k and inclusion.

A rank counts from 1; it is infinite where there is nothing to rank, so that a miss counts as a miss at
every depth. Any-gold measures come from `first_rank`, all-gold measures from `last_rank`.
"""

import math

import numpy as np
from numpy.typing import NDArray

# What is measured: tokens of a page, depths of a ranking, and the classes of an answer by its number of rows,
# from the first to the last. Budgets and classes are those of the first-chunk paper.
BUDGETS = (1000, 2000, 4000, 8000)
DEPTHS = (1, 3, 5, 10, 20, 50, 100)
BUCKETS = (("1-5", 1, 5), ("6-20", 6, 20), ("21+", 21, 10**9))


def first_rank(gold: NDArray[np.bool_]) -> float:
    """Rank of the best placed gold item.

    Args:
        gold: shape ``(items,)``, whether each item is gold, in the order of the page.

    Returns:
        From 1; infinite where no item is gold.

    Example:
        >>> first_rank(np.array([False, True, True]))
        2.0
    """
    return float(np.argmax(gold)) + 1 if gold.any() else math.inf


def last_rank(gold: NDArray[np.bool_], total: int) -> float:
    """Rank of the worst placed gold item, where all of them are there.

    Args:
        gold: shape ``(items,)``, whether each item is gold, in the order of the page.
        total: how many gold items the task has, on the page or not.

    Returns:
        From 1; infinite where one is missing or there are none.

    Example:
        >>> last_rank(np.array([False, True, True]), 2), last_rank(np.array([False, True, True]), 3)
        (3.0, inf)
    """
    places = np.flatnonzero(gold)
    return float(places[-1]) + 1 if total and places.size == total else math.inf


def p_at(ranks: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """Of which tasks the rank is among the first ``k``; p1 is ``p_at(ranks, 1)``.

    Args:
        ranks: shape ``(tasks,)``, from `first_rank` or `last_rank`.
        k: depth.

    Returns:
        Shape ``(tasks,)``; its mean is p@k.

    Example:
        >>> p_at(np.array([1, 4, np.inf]), 3).tolist()
        [True, False, False]
    """
    return ranks <= k


def included(ranks: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Of which tasks the gold is on the page at all.

    Args:
        ranks: shape ``(tasks,)``, from `first_rank` or `last_rank`.

    Returns:
        Shape ``(tasks,)``; its mean is inclusion.
    """
    return np.isfinite(ranks)
