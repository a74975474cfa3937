"""Regression trees that were trained elsewhere: the sum of their leaves for each row of a matrix."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError


@dataclass(frozen=True)
class Trees:
    """Trees side by side, each padded to the largest.

    A node with feature -1 is a leaf, and its own child.

    Args:
        columns: names of the features, in the order of a row.
        feature: shape ``(trees, nodes)``, position of the column that a node asks about.
        threshold: shape ``(trees, nodes)``; a row goes left where its value is at most that.
        left, right: shape ``(trees, nodes)``, positions of a node's children.
        value: shape ``(trees, nodes)``, of leaves.
        depth: of the deepest.
    """

    columns: Sequence[str]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    value: NDArray[np.float64]
    depth: int

    def sums(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of all trees.

        Args:
            rows: shape ``(rows, len(columns))``.

        Returns:
            Shape ``(rows,)``.
        """
        tree = np.arange(len(self.feature))[:, None]
        node = np.zeros((len(self.feature), len(rows)), dtype=np.intp)
        row = np.arange(len(rows))
        for _ in range(self.depth):
            asked = rows[row, np.maximum(self.feature[tree, node], 0)]
            left = asked <= self.threshold[tree, node]
            node = np.where(left, self.left[tree, node], self.right[tree, node])
        return np.asarray(self.value[tree, node].sum(axis=0))


def load_trees(file: Path) -> Trees:
    """The trees of a JSON file as `as_json` makes it.

    Raises:
        InputError: it cannot be read, is cut off or of another form, or a number in it is not finite.
    """
    try:
        loaded = from_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"the weights {file} are no trees of a fused ranker ({error}); train them again"
        ) from error
    _check(loaded, file)
    return loaded


def from_json(text: str) -> Trees:
    """The trees of a text that `as_json` made."""
    kept = json.loads(text)
    trees = [_Nodes(tree) for tree in kept["trees"]]
    most = max(len(tree.feature) for tree in trees)
    return Trees(
        [str(name) for name in kept["columns"]],
        np.array([tree.padded(tree.feature, -1, most) for tree in trees], dtype=np.intp),
        np.array([tree.padded(tree.threshold, 0.0, most) for tree in trees], dtype=np.float64),
        np.array([tree.padded(tree.left, 0, most) for tree in trees], dtype=np.intp),
        np.array([tree.padded(tree.right, 0, most) for tree in trees], dtype=np.intp),
        np.array([tree.padded(tree.value, 0.0, most) for tree in trees], dtype=np.float64),
        int(kept["depth"]),
    )


def as_json(columns: Sequence[str], trees: Sequence[Mapping[str, Any]]) -> str:
    """The text of trees that LightGBM trained, one tree a line.

    Args:
        columns: names of the features.
        trees: as ``tree_structure`` of `lightgbm.Booster.dump_model` gives them; numerical features only.
    """
    flat = [_flattened(tree) for tree in trees]
    depth = max(map(_depth, trees), default=0)
    lines = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in flat)
    return f'{{"columns": {json.dumps(list(columns))},\n"depth": {depth},\n"trees": [\n{lines}\n]}}\n'


class _Nodes:
    """A tree as it stands in the file."""

    def __init__(self, tree: Mapping[str, Sequence[float]]) -> None:
        self.feature, self.threshold = tree["feature"], tree["threshold"]
        self.left, self.right, self.value = tree["left"], tree["right"], tree["value"]

    @staticmethod
    def padded(numbers: Sequence[float], filling: float, length: int) -> list[float]:
        return [*numbers, *[filling] * (length - len(numbers))]


def _flattened(tree: Mapping[str, Any]) -> dict[str, list[float]]:
    nodes: list[list[float]] = []

    def add(node: Mapping[str, Any]) -> int:
        place = len(nodes)
        if "leaf_value" in node:
            nodes.append([-1, 0.0, place, place, node["leaf_value"]])
            return place
        nodes.append([node["split_feature"], node["threshold"], 0, 0, 0.0])
        nodes[place][2:4] = [add(node["left_child"]), add(node["right_child"])]
        return place

    add(tree)
    names = ("feature", "threshold", "left", "right", "value")
    return {name: [node[part] for node in nodes] for part, name in enumerate(names)}


def _depth(tree: Mapping[str, Any]) -> int:
    if "leaf_value" in tree:
        return 0
    return 1 + max(_depth(tree["left_child"]), _depth(tree["right_child"]))


def _check(trees: Trees, file: Path) -> None:
    nodes = trees.feature.shape[1]
    sound = (
        all(
            len(part) == len(trees.feature)
            for part in (trees.threshold, trees.left, trees.right, trees.value)
        )
        and bool(np.isfinite(trees.threshold).all() and np.isfinite(trees.value).all())
        and bool(
            ((trees.left >= 0) & (trees.left < nodes) & (trees.right >= 0) & (trees.right < nodes)).all()
        )
        and bool((trees.feature < len(trees.columns)).all())
    )
    if not sound:
        raise InputError(
            f"the weights {file} are damaged: a number is not finite or leads nowhere; train them again"
        )
