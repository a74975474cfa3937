"""Value functions that know nothing but the order of the answer: the first-chunk paper's baselines."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.items import Item, Query

SEED = 42  # arXiv 2608.26130: every list is drawn anew from this seed


class Fifo:
    """The tool's own order: 1 - i/n.

    Example:
        >>> Fifo().values(Query(""), [Item("a", "a"), Item("b", "b")]).tolist()
        [1.0, 0.5]
    """

    name = "fifo"

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:  # noqa: ARG002
        """Shape ``(len(items),)``, from 1 down to 1/n."""
        return fifo(len(items))


class Reversed:
    """The tool's order backwards: i/(n - 1), so that the tool's first item is worth nothing.

    Example:
        >>> Reversed().values(Query(""), [Item("a", "a"), Item("b", "b")]).tolist()
        [0.0, 1.0]
    """

    name = "reversed"

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:  # noqa: ARG002
        """Shape ``(len(items),)``, from 0 up to 1; 0 for an item that stands alone."""
        return np.arange(len(items)) / max(len(items) - 1, 1)


class Random:
    """A random order, the same for every list of the same length.

    Args:
        seed: of the generator that draws each list.
    """

    name = "random"

    def __init__(self, seed: int = SEED) -> None:
        self._seed = seed

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:  # noqa: ARG002
        """Shape ``(len(items),)``, uniform over [0, 1)."""
        return np.random.default_rng(self._seed).random(len(items))


def fifo(count: int) -> NDArray[np.float64]:
    """1 - i/n for every position i of n."""
    return 1 - np.arange(count) / max(count, 1)
