"""Trains the fused ranker: gradient-boosted trees that learn to rank, over the columns of `readers.fused`.

Twice: for files of a commit, whose words, names and history are those of the whole repository, and for the
files of a tool's answer, of which nothing else is known. The columns are kept in the folder, so that a
training that was killed goes on.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import MissingExtraError
from ..core.files import write_atomically
from ..core.values import ranking
from ..readers.fused import ENCODER, TREES, is_neural
from ..readers.trees import as_json, from_json
from .card import sha256
from .columns import GROUPS, Progress, Ranked, Tasks, encoder_hash, work_out
from .config import FusionConfig
from .folder import TrainingFolder

DEPTHS = (1, 5, 10, 50)
_RIDGE = 0.01  # keeps log-odds finite where scores part right from wrong without a fault
_LEAST_SPREAD = 1e-9  # of scores
_STEPS = 50

Tree = dict[str, Any]
Scored = list[tuple[Ranked, NDArray[np.float64]]]


def train_fusion(
    config: FusionConfig,
    repositories: Mapping[str, Path],
    overwrite: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Trains the trees and measures them, by cross-validation, on the repositories of the issues.

    Args:
        config: see `FusionConfig`.
        repositories: git directory by ``owner/name``.
        overwrite: whether an earlier training in the folder is lost.
        progress: called with the numbers of rows done and to do.

    Returns:
        What ``training.json`` tells, for ``commit`` and ``answer`` each: the numbers of tasks, of those that
        are issues and of rows that were left out because their commits or files are not there; how many
        issues have a right candidate, in percent; and p@k in percent of issues, or of commits where there are
        none, each ranked by trees that saw nothing of its repository. Of answers an issue makes a task in
        each form.

    Raises:
        InputError: the configuration, a file or a repository cannot be used, or is held out.
        MissingExtraError: lightgbm is not installed.
        RunError: the folder cannot be written.
    """
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        raise MissingExtraError("training the fused ranker", "train") from None
    settings = {"trainer": "fusion", **asdict(config), "data": _data(config)}
    with TrainingFolder(config.out, settings, overwrite) as folder:
        if not folder.done:
            part = folder.part()
            told = {}
            for kind, name in TREES.items():
                kept = Path(config.features) if config.features else folder.path / "features"
                tasks = work_out(config, repositories, kind, kept, progress)
                trees, told[kind] = learn(tasks, config)
                write_atomically(part / name, as_json(tasks.columns, trees))
            if any(map(is_neural, told["commit"]["columns"])):
                shutil.copytree(config.encoder, part / ENCODER)
            folder.finish(**told)
    return folder.record


def ablate(
    config: FusionConfig,
    repositories: Mapping[str, Path],
    overwrite: bool = False,
    progress: Progress | None = None,
) -> dict[str, dict[str, Any]]:
    """Trains anew without each of `GROUPS`, into ``OUT/without_GROUP``, of the columns kept in ``OUT``.

    Args:
        config: of the training with all of them.
        repositories: as for `train_fusion`, which raises what this does.
        overwrite: likewise.
        progress: likewise.

    Returns:
        What `train_fusion` tells, by group; without a bi-encoder there is no meaning to leave out.
    """
    kept = config.features or f"{config.out}/features"
    groups = {group: names for group, names in GROUPS.items() if config.encoder or group != "meaning"}
    return {
        group: train_fusion(
            replace(
                config,
                out=f"{config.out}/without_{group}",
                leave_out=(*config.leave_out, *names),
                features=kept,
            ),
            repositories,
            overwrite,
            progress,
        )
        for group, names in groups.items()
    }


def learn(tasks: Tasks, config: FusionConfig) -> tuple[list[Tree], dict[str, Any]]:
    """The trees, whose sum is the log-odds that a candidate is right, and what is told of them."""
    issues = [task for task in tasks.tasks if task.real]
    scored = _held_out(issues or tasks.tasks, tasks, config)
    slope, shift = log_odds(scored)
    trees = fit(tasks.tasks, config, tasks.columns)
    for tree in trees:
        _scale(tree, slope)
    return [*trees, {"leaf_value": shift}], {
        "tasks": len(tasks.tasks),
        "issues": len(issues),
        "left_out": tasks.left_out,
        "found": _percent(sum(bool(task.gold.any()) for task in issues), len(issues)),
        "repositories": sorted({task.repo for task in tasks.tasks}),
        "columns": list(tasks.columns),
        "measured_on": ("issues" if issues else "commits") if scored else "",
        "cross_validated": _found(scored),
    }


def fit(tasks: Sequence[Ranked], config: FusionConfig, columns: Sequence[str]) -> list[Tree]:
    """The trees of a model for each seed, their leaves shared out, so that together they are the mean.

    LambdaMART (Burges, From RankNet to LambdaRank to LambdaMART, 2010) as LightGBM has it.
    """
    import lightgbm

    told = [task for task in tasks if task.gold.any()]
    data = lightgbm.Dataset(
        np.concatenate([task.rows for task in told]).astype(np.float64),
        np.concatenate([task.gold for task in told]).astype(int),
        group=[len(task.gold) for task in told],
        weight=np.concatenate(
            [
                np.full(len(task.gold), task.share * (config.issue_weight if task.real else 1.0))
                for task in told
            ]
        ),
        feature_name=[f"c{place}" for place in range(len(columns))],
        free_raw_data=False,
    )
    trees: list[Tree] = []
    for seed in range(config.seed, config.seed + config.models):
        booster = lightgbm.train(_parameters(config, seed), data, config.trees)
        trees += [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    for tree in trees:
        _scale(tree, 1 / config.models)
    return trees


def log_odds(scored: Scored) -> tuple[float, float]:
    """The slope and shift that make log-odds of scores (Platt, Probabilistic Outputs for SVMs, 1999).

    By Newton's method. A page is filled by the sum of its values, so that a value has to be worth something
    by itself: what is twice as likely to be right is worth two of the others.
    """
    if not scored:
        return 1.0, 0.0
    scores = np.concatenate([values for _, values in scored])
    right = np.concatenate([task.gold for task, _ in scored]).astype(np.float64)
    middle, spread = scores.mean(), max(scores.std(), _LEAST_SPREAD)
    rows = np.stack([(scores - middle) / spread, np.ones_like(scores)])
    found = np.zeros(2)
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-np.clip(found @ rows, -30, 30)))
        curve = (rows * (expected * (1 - expected))) @ rows.T + _RIDGE * np.eye(2)
        step = np.linalg.solve(curve, rows @ (expected - right) + _RIDGE * found)
        found = found - np.clip(step, -1, 1)  # a whole step may go too far
    slope = found[0] / spread
    # Where scores say nothing or the contrary, of a few tasks say, their order must stay as it is.
    return (float(slope), float(found[1] - slope * middle)) if slope > 0 else (1.0, 0.0)


def _held_out(asked: Sequence[Ranked], tasks: Tasks, config: FusionConfig) -> Scored:
    """Tasks with the scores of their candidates by trees that saw nothing of their repositories."""
    scored: Scored = []
    repositories = sorted({task.repo for task in asked})
    for fold in range(min(config.folds, len(repositories))):
        apart = set(repositories[fold :: config.folds])
        others = [task for task in tasks.tasks if task.repo not in apart]
        if any(task.gold.any() for task in others):
            trees = from_json(as_json(tasks.columns, fit(others, config, tasks.columns)))
            scored += [
                (task, trees.sums(task.rows.astype(np.float64))) for task in asked if task.repo in apart
            ]
    return scored


def _found(scored: Scored) -> dict[str, float]:
    """In how many a right one is among the first k, in percent."""
    firsts = [
        places[0] if (places := np.flatnonzero(task.gold[ranking(scores)])).size else DEPTHS[-1]
        for task, scores in scored
    ]
    return {
        str(depth): _percent(sum(int(first) < depth for first in firsts), len(scored))
        for depth in (DEPTHS if scored else ())
    }


def _data(config: FusionConfig) -> dict[str, str]:
    """The SHA-256 of what the weights depend on, by its path."""
    encoders = filter(None, (config.encoder, *config.fold_encoders))
    return {path: sha256(path) for path in config.rows} | {path: encoder_hash(path) for path in encoders}


def _percent(part: int, whole: int) -> float:
    return round(100 * part / max(1, whole), 1)


def _parameters(config: FusionConfig, seed: int) -> dict[str, Any]:
    return {
        "objective": "lambdarank",
        "lambdarank_truncation_level": 10,
        "learning_rate": config.learning_rate,
        "num_leaves": config.leaves,
        "min_data_in_leaf": config.least_in_leaf,
        "feature_fraction": 0.5,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "lambda_l2": 5.0,
        "max_bin": 127,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbose": -1,
        "seed": seed,
    }


def _scale(node: Tree, factor: float) -> None:
    if "leaf_value" in node:
        node["leaf_value"] *= factor
    else:
        _scale(node["left_child"], factor)
        _scale(node["right_child"], factor)
