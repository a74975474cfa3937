"""Intervals and paired tests for shares of tasks.

Nothing here assumes a normal distribution of anything but the score of a single share (`wilson`); the
paired test is exact, and the paired intervals are drawn from the tasks themselves.
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 10_000
SEED = 20_260_131  # any number will do, as long as it stays
_CELLS = 2_000_000  # resamples x units drawn at a time, 16 MB


def wilson(hits: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """The score interval of a share.

    Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22, 209-212;
    without continuity correction, method 3 of Newcombe (1998), Statistics in Medicine 17, 857-872.

    Args:
        hits: successes, 0 to ``total``.
        total: trials, >= 1.
        confidence: of the interval, two-sided.

    Returns:
        Lower and upper bound, in [0, 1].

    Raises:
        ValueError: there are no trials, or not as many as successes.

    Example:
        >>> low, high = wilson(81, 263)
        >>> round(low, 4), round(high, 4)
        (0.2553, 0.3662)
    """
    if not 0 <= hits <= total or not total:
        raise ValueError(f"{hits} of {total} is no share")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = hits / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    # At 0 and 1 the formula gives the bound itself, up to rounding.
    return (0.0 if hits == 0 else middle - half), (1.0 if hits == total else middle + half)


def mcnemar(b: int, c: int) -> float:
    """Whether two methods differ on the same tasks: the exact two-sided test.

    McNemar (1947), Note on the sampling error of the difference between correlated proportions or
    percentages, Psychometrika 12, 153-157, with the binomial distribution in the place of its
    approximation: under the null hypothesis each task on which the methods differ favours either with
    probability 1/2.

    Args:
        b: tasks that only the first method solves.
        c: tasks that only the second method solves.

    Returns:
        The probability of a split at least as uneven; 1 where the methods never differ.

    Raises:
        ValueError: a count is negative.

    Example:
        >>> round(mcnemar(1, 9), 4)
        0.0215
    """
    if b < 0 or c < 0:
        raise ValueError(f"b = {b} and c = {c} are no counts")
    # Whole numbers throughout: 2 ** 500 has no rounding and no overflow before the one division.
    tail = sum(math.comb(b + c, favourable) for favourable in range(min(b, c) + 1))
    return min(1.0, float(2 * tail / 2 ** (b + c)))


def discordant(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[int, int]:
    """The tasks on which two methods differ, for `mcnemar`.

    Args:
        first: shape ``(tasks,)``, whether the first method solves each task.
        second: shape ``(tasks,)``, whether the second does.

    Returns:
        b, the tasks that only the first solves, and c, those that only the second does.

    Example:
        >>> discordant(np.array([True, True, False]), np.array([False, True, False]))
        (1, 0)
    """
    return int((first & ~second).sum()), int((second & ~first).sum())


def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[float, float]:
    """The percentile interval of the mean difference of two methods on the same tasks.

    Efron (1979), Bootstrap methods: another look at the jackknife, Annals of Statistics 7, 1-26; Efron and
    Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3. Tasks of one repository resemble each
    other; with ``clusters`` whole repositories are drawn (Davison and Hinkley, Bootstrap Methods and their
    Application, 1997, section 3.8), and the difference is that of all tasks drawn.

    Args:
        first: shape ``(tasks,)``, what the first method reaches on each task.
        second: shape ``(tasks,)``, what the second reaches.
        clusters: shape ``(tasks,)``, which cluster each task belongs to; every task its own if None.
        confidence: of the interval, two-sided.
        resamples: draws.
        seed: of the draws.

    Returns:
        Lower and upper bound of mean(first) - mean(second).

    Raises:
        ValueError: the shapes differ, or there are no tasks.

    Example:
        >>> paired_bootstrap([1, 1, 1, 1], [1, 0, 1, 0]), paired_bootstrap([1, 1], [0, 0])
        ((0.0, 1.0), (1.0, 1.0))
    """
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if np.shape(first) != np.shape(second) or difference.ndim != 1 or not difference.size:
        raise ValueError(f"shapes {np.shape(first)} and {np.shape(second)} are not one value a task each")
    sums, sizes = _per_cluster(difference, clusters)
    random = np.random.default_rng(seed)
    at_a_time = max(1, _CELLS // sums.size)
    means = np.concatenate(
        [
            _resampled(sums, sizes, min(at_a_time, resamples - start), random)
            for start in range(0, resamples, at_a_time)
        ]
    )
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _per_cluster(
    difference: NDArray[np.float64], clusters: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum of the differences in each cluster, and its number of tasks."""
    if clusters is None:
        return difference, np.ones(difference.size)
    if np.shape(clusters) != difference.shape:
        raise ValueError(f"clusters of shape {np.shape(clusters)} for {difference.size} tasks")
    _, member = np.unique(np.asarray(clusters), return_inverse=True)
    sizes = np.bincount(member).astype(np.float64)
    return np.bincount(member, weights=difference).astype(np.float64), sizes


def _resampled(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], draws: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """The mean difference in each of ``draws`` draws of as many clusters as there are."""
    drawn = random.integers(sums.size, size=(draws, sums.size))
    means: NDArray[np.float64] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return means
