"""First-chunk selection: the 0/1 knapsack of values under a token budget (arXiv 2608.26130, section 3).

Both selectors return positions in ascending order and never take an item whose value is zero.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError

# Up to this many cells (items x budget) the exact programme answers within a few tens of milliseconds and
# 4 MB; above it `select` is greedy.
EXACT_CELLS = 4_000_000


def select(values: ArrayLike, costs: ArrayLike, budget: int) -> NDArray[np.intp]:
    """The items to show: exactly where that is quick, else greedily with the half bound.

    Args:
        values: shape ``(n,)``, finite, >= 0.
        costs: shape ``(n,)``, whole tokens, >= 0.
        budget: tokens, >= 0.

    Returns:
        Positions of the chosen items in ascending order; their costs sum to at most ``budget``.

    Raises:
        InputError: the shapes differ, a cost or the budget is negative.

    Example:
        >>> select([3.0, 2.0, 2.0], [6, 5, 5], 10).tolist()
        [1, 2]
    """
    count = np.size(values)
    exact = count * (budget + 1) <= EXACT_CELLS
    return select_exact(values, costs, budget) if exact else select_greedy(values, costs, budget)


def select_greedy(values: ArrayLike, costs: ArrayLike, budget: int) -> NDArray[np.intp]:
    """By falling density, taking whatever still fits; or the single best item where that is worth more.

    The greatest single value bounds what the greedy choice can lose, so the result is worth at least half
    of the optimum (Kellerer, Pferschy and Pisinger, Knapsack Problems, 2004, theorem 2.5.4).

    Args, returns and errors are those of `select`.
    """
    value, cost, worth_taking = _checked(values, costs, budget)
    if not worth_taking.size:
        return worth_taking
    with np.errstate(divide="ignore"):
        density = value[worth_taking] / cost[worth_taking]
    waiting = worth_taking[np.argsort(-density, kind="stable")]
    room = budget
    taken: list[NDArray[np.intp]] = []
    while waiting.size:
        # Take the longest prefix that fits, then drop all that no longer can: a pass ends at a blocker.
        prefix = int(np.searchsorted(np.cumsum(cost[waiting]), room, side="right"))
        taken.append(waiting[:prefix])
        room -= int(cost[waiting[:prefix]].sum())
        rest = waiting[prefix:]
        waiting = rest[cost[rest] <= room]
    greedy = np.sort(np.concatenate(taken))
    best = worth_taking[np.argmax(value[worth_taking])]
    return greedy if value[greedy].sum() >= value[best] else np.array([best])


def select_exact(values: ArrayLike, costs: ArrayLike, budget: int) -> NDArray[np.intp]:
    """The choice of the greatest total value, by dynamic programming over the budget.

    An item is taken only where that raises the total by more than rounding, so that of equal choices the
    one whose items the tool listed first is returned. Takes ``n * budget`` steps of numpy and
    ``n * budget`` bytes.

    Args, returns and errors are those of `select`.
    """
    value, cost, worth_taking = _checked(values, costs, budget)
    if int(cost[worth_taking].sum()) <= budget:
        return worth_taking
    # Sums of the same values in another order differ in their last bits: 0.1 + 0.2 is no better than 0.3.
    rounding = worth_taking.size**2 * np.finfo(np.float64).eps
    best = np.zeros(budget + 1)
    taken = np.zeros((worth_taking.size, budget + 1), dtype=np.bool_)
    for row, item in enumerate(worth_taking):
        price = int(cost[item])
        with_item = best[: budget + 1 - price] + value[item]
        better = with_item > best[price:] + rounding
        taken[row, price:] = better
        best[price:] = np.where(better, with_item, best[price:])
    chosen: list[int] = []
    room = budget
    for row in range(worth_taking.size - 1, -1, -1):
        if taken[row, room]:
            chosen.append(int(worth_taking[row]))
            room -= int(cost[worth_taking[row]])
    return np.array(chosen[::-1], dtype=np.intp)


def _checked(
    values: ArrayLike, costs: ArrayLike, budget: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.intp]]:
    """Values, costs, and the positions of the items that have a value and fit the budget alone.

    The values are relative to the greatest of those, and zero for all other items.
    """
    value = np.asarray(values, dtype=np.float64)
    cost = np.asarray(costs, dtype=np.int64)
    if value.ndim != 1 or value.shape != cost.shape:
        raise InputError(f"values of shape {value.shape} need costs of the same shape, not {cost.shape}")
    if budget < 0 or (cost < 0).any():
        raise InputError("the budget and all costs must be at least 0 tokens")
    value = np.where(cost <= budget, value, 0)
    if value.any():
        value = value / value.max()  # so that no sum overflows
    return value, cost, np.flatnonzero(value > 0)
