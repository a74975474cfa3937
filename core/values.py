"""The contract of a value function, and the check that every caller goes through."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .errors import FirstpageError, RunError
from .items import Item, Query


@runtime_checkable
class ValueFunction(Protocol):
    """Gives each item of an answer a value for a query.

    Attributes:
        name: as registered, shown in pages and reports.
    """

    name: str

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """One value an item: shape ``(len(items),)``, finite, >= 0, higher is better, 0 is worthless."""
        ...


def evaluate(function: ValueFunction, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
    """The values of ``items``, checked against the contract.

    Returns:
        Shape ``(len(items),)``, finite, >= 0.

    Raises:
        RunError: the function fails, the shape is wrong, or a value is NaN, infinite or negative; names
            function and item.
    """
    if not items:
        return np.zeros(0)
    try:
        values = np.asarray(function.values(query, items), dtype=np.float64)
    except FirstpageError:
        raise
    except Exception as error:  # a third party's code may raise anything
        raise RunError(
            f"the value function '{function.name}' failed: {type(error).__name__}: {error}"
        ) from error
    if values.shape != (len(items),):
        raise RunError(
            f"the value function '{function.name}' returned values of shape {values.shape} "
            f"for {len(items)} items; it must return one value an item"
        )
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if wrong.size:
        first = int(wrong[0])
        raise RunError(
            f"the value function '{function.name}' gave the value {values[first]} to the item "
            f"{items[first].id!r}; values must be finite and at least 0"
        )
    return values


def ranking(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions from the highest value to the lowest; equal values keep the tool's native order.

    Example:
        >>> ranking(np.array([0.0, 2.0, 1.0, 2.0])).tolist()
        [1, 3, 2, 0]
    """
    return np.argsort(-values, kind="stable")
