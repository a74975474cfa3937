"""The first-chunk paper's keyword value functions: what path and issue have in common (arXiv 2608.26130).

The path of an item is the file that it stands for, else its text. Windows paths split like others.
"""

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.items import Item, Query
from .order import fifo

SHORTEST = 3  # characters of a word that counts
TIE_BREAK = 1e-6  # of the tool's order, far below one word in common

# Weights and prior of the paper's composite.
KEYWORD, DEPTH, EXTENSION, RECENCY, UNDERSCORE = 0.70, 0.15, 0.08, 0.04, 0.03
EXTENSION_PRIOR = {"py": 1.0, "pyx": 0.95, "pyi": 0.7}
OTHER_EXTENSION = 0.5
# What the paper gives files that were all written at one time, as those of a fresh checkout are.
UNKNOWN_RECENCY = 1.0

_WORD = re.compile(r"[^\W_]+")


class PriorityKw:
    """Words that the path shares with the query, by the geometric mean of both numbers of words.

    Example:
        >>> PriorityKw().values(Query("the cache is stale"), [Item("1", "src/my_cache.py")]).round(3).tolist()
        [0.408]
    """

    name = "priority_kw"

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """Shape ``(len(items),)``, in [0, 1]; 0 for a path that shares no word with the query."""
        return overlap(query, paths(items))


class PriorityKwPlus:
    """`PriorityKw` that never comes back empty: ties, and lists without any word in common, go by order."""

    name = "priority_kw_plus"

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """Shape ``(len(items),)``, > 0 except for the last item of a list that has any word in common."""
        shared = overlap(query, paths(items))
        if not shared.any():
            return fifo(len(items))
        return shared + TIE_BREAK * (1 - np.arange(len(items)) / max(len(items) - 1, 1))


class PriorityAll:
    """The paper's composite: words in common, then depth, extension, recency and an underscore in the name.

    Recency is ``metadata["recency"]``, in [0, 1], and a constant for items without it.
    """

    name = "priority_all"

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """Shape ``(len(items),)``, in (0, 1]."""
        where = paths(items)
        names = [path.rpartition("/")[2] for path in where]
        depth = np.array([path.count("/") for path in where], dtype=np.float64)
        prior = [EXTENSION_PRIOR.get(name.rpartition(".")[2].lower(), OTHER_EXTENSION) for name in names]
        recency = [item.metadata.get("recency", UNKNOWN_RECENCY) for item in items]
        return (
            KEYWORD * overlap(query, where)
            + DEPTH / (1 + depth)
            + EXTENSION * np.array(prior)
            + RECENCY * np.array(recency, dtype=np.float64)
            + UNDERSCORE * np.array(["_" in name for name in names], dtype=np.float64)
        )


def paths(items: Sequence[Item]) -> list[str]:
    """What each item is judged by: its path, or its text; backslashes become slashes."""
    return [(item.path or item.text).replace("\\", "/") for item in items]


def overlap(query: Query, where: Sequence[str]) -> NDArray[np.float64]:
    """|P & Q| / sqrt(|P| |Q|) for the set of words of each path, P, and of the query, Q.

    The words of a path are its parts at ``/ _ - .``, those of the query its runs of letters and digits;
    all in lower case, three characters or more.

    Args:
        query: the question.
        where: paths with slashes.

    Returns:
        Shape ``(len(where),)``, in [0, 1].
    """
    asked = {word for word in _WORD.findall(query.text.lower()) if len(word) >= SHORTEST}
    if not asked or not where:
        return np.zeros(len(where))
    # In one string, which is quicker than path by path.
    joined = "\n".join(path.replace("\n", " ") for path in where).lower()
    for separator in "_-.":
        joined = joined.replace(separator, "/")
    values = np.zeros(len(where))
    for place, line in enumerate(joined.split("\n")):
        own = set(line.split("/"))
        if shared := len(own & asked):
            counted = len([word for word in own if len(word) >= SHORTEST])
            values[place] = shared / math.sqrt(counted * len(asked))
    return values
