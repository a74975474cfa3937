"""Trains the fused ranker: gradient-boosted trees that learn to rank, over the columns of `readers.fused`.

The columns of the tasks of one repository are worked out once and kept in the folder, so that a training that
was killed goes on, and one with other settings of the trees starts at once.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import FirstpageError, InputError, MissingExtraError
from ..core.files import write_atomically
from ..core.git import GitStore
from ..core.items import Query
from ..core.values import ranking
from ..readers.bi_encoder import COLUMNS as NEURAL
from ..readers.blob_index import BlobIndex
from ..readers.candidates import Wide, candidate_items
from ..readers.fused import ENCODER, TREES, features
from ..readers.sources import PYTHON
from ..readers.static_encoder import StaticEncoder
from ..readers.trees import as_json, from_json
from .config import FusionConfig
from .folder import TrainingFolder
from .guard import check_rows, refusal, store_held_out
from .issues import choose, gold, issue
from .rows import Row, read_rows

FORMAT = 1  # of the columns that are kept; raise it whenever one of them means something else
DEPTHS = (1, 5, 10, 50)

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Ranked:
    """The candidates of one task, as the trees see them.

    Args:
        id: of the task.
        repo: its repository.
        rows: shape ``(candidates, columns)``.
        gold: shape ``(candidates,)``, which of them are right.
        weight: of the task in training.
    """

    id: str
    repo: str
    rows: NDArray[np.float32]
    gold: NDArray[np.bool_]
    weight: float


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
        progress: called with the numbers of tasks done and to do.

    Returns:
        What ``training.json`` tells: tasks, how many issues have a right candidate, and p@k, in percent.

    Raises:
        InputError: the configuration, a file or a repository cannot be used, or is held out.
        MissingExtraError: lightgbm is not installed.
        RunError: the folder cannot be written.
    """
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        raise MissingExtraError("training the fused ranker", "train") from None
    settings = {"trainer": "fusion", **asdict(config)}
    with TrainingFolder(config.out, settings, overwrite) as folder:
        if not folder.done:
            columns, tasks = _tasks(config, repositories, folder.path / "features", progress)
            issues = [task for task in tasks if task.weight == config.issue_weight]
            part = folder.part()
            write_atomically(part / TREES, as_json(columns, fit(tasks, config, columns)))
            if config.encoder:
                shutil.copytree(config.encoder, part / ENCODER)
            folder.finish(
                tasks=len(tasks),
                issues=len(issues),
                found=round(100 * sum(bool(task.gold.any()) for task in issues) / max(1, len(issues)), 1),
                repositories=sorted({task.repo for task in tasks}),
                columns=columns,
                cross_validated=cross_validated(issues, tasks, config, columns),
            )
    return folder.record


def fit(tasks: Sequence[Ranked], config: FusionConfig, columns: Sequence[str]) -> list[Mapping[str, Any]]:
    """The trees of a model for each seed, their leaves shared out, so that together they are the mean.

    LambdaMART (Burges, From RankNet to LambdaRank to LambdaMART, 2010) as LightGBM has it.
    """
    import lightgbm

    told = [task for task in tasks if task.gold.any()]
    data = lightgbm.Dataset(
        np.concatenate([task.rows for task in told]).astype(np.float64),
        np.concatenate([task.gold for task in told]).astype(int),
        group=[len(task.gold) for task in told],
        weight=np.concatenate([np.full(len(task.gold), task.weight) for task in told]),
        feature_name=[f"c{place}" for place in range(len(columns))],
        free_raw_data=False,
    )
    trees: list[Mapping[str, Any]] = []
    for seed in range(config.seed, config.seed + config.models):
        booster = lightgbm.train(_parameters(config, seed), data, config.trees)
        trees += [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    for tree in trees:
        _share(tree, config.models)
    return trees


def cross_validated(
    issues: Sequence[Ranked], tasks: Sequence[Ranked], config: FusionConfig, columns: Sequence[str]
) -> dict[str, float]:
    """p@k of issues, in percent, each ranked by trees that saw nothing of its repository."""
    found = dict.fromkeys(map(str, DEPTHS), 0)
    repositories = sorted({task.repo for task in issues})
    for fold in range(min(config.folds, len(repositories))):
        asked = set(repositories[fold :: config.folds])
        others = [task for task in tasks if task.repo not in asked]
        trees = from_json(as_json(columns, fit(others, config, columns)))
        for task in issues:
            if task.repo in asked:
                order = ranking(trees.sums(task.rows.astype(np.float64)))
                ranks = np.flatnonzero(task.gold[order])
                for depth in DEPTHS:
                    found[str(depth)] += int(ranks.size > 0 and ranks[0] < depth)
    return {depth: round(100 * count / max(1, len(issues)), 1) for depth, count in found.items()}


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


def _share(node: dict[str, Any] | Mapping[str, Any], parts: int) -> None:
    if "leaf_value" in node:
        node["leaf_value"] /= parts  # type: ignore[index]
    else:
        _share(node["left_child"], parts)
        _share(node["right_child"], parts)


def _tasks(
    config: FusionConfig, repositories: Mapping[str, Path], folder: Path, progress: Progress | None
) -> tuple[list[str], list[Ranked]]:
    """The columns' names and all tasks, in the order of their repositories."""
    asked = _asked(config, repositories)
    total, done = sum(map(len, asked.values())), 0
    columns: list[str] = []
    tasks: list[Ranked] = []
    for repo, rows in asked.items():
        file = folder / f"{_digest(config, repo, rows)}.npz"
        if not file.is_file():
            with GitStore(repositories[repo]) as store:
                if why := store_held_out(repo, store, "fusion"):
                    raise refusal(why)
                _save(file, list(_worked_out(config, repo, rows, store)))
        names, found = _load(file, repo, config)
        columns = columns or names
        tasks += found
        done += len(rows)
        if progress:
            progress(done, total)
    if not any(task.gold.any() for task in tasks):
        raise InputError("rows: none of their files is among the candidates of its commit")
    keep = [place for place, name in enumerate(columns) if not name.startswith(config.leave_out or ("\0",))]
    return [columns[place] for place in keep], [
        Ranked(task.id, task.repo, task.rows[:, keep], task.gold, task.weight) for task in tasks
    ]


def _asked(config: FusionConfig, repositories: Mapping[str, Path]) -> dict[str, list[Row]]:
    """The rows of each repository: all that are issues, and the commits that make good ones."""
    by_repo: dict[str, list[Row]] = {}
    commits: dict[str, list[Row]] = {}
    for path in config.rows:
        for name, row in read_rows(path):
            check_rows([(name, row)], "fusion")
            if row["repo"] not in repositories:
                raise InputError(f"{name}: there is no repository '{row['repo']}' in --repos; add it there")
            (by_repo if row["source"] == "swebench" else commits).setdefault(row["repo"], []).append(row)
    for repo, rows in commits.items():
        chosen = choose(rows, config.newest, config.per_repository, config.seed)
        by_repo[repo] = [*by_repo.get(repo, []), *chosen]
    return by_repo


def _worked_out(
    config: FusionConfig, repo: str, rows: Sequence[Row], store: GitStore
) -> Iterator[tuple[str, list[str], NDArray[np.float32], NDArray[np.bool_], bool]]:
    encoder = config.encoder_of(repo)
    with BlobIndex(store) as index:
        for row in rows:
            real = row["source"] == "swebench"
            try:
                query = Query(row["query"] if real else issue(row, store, config.seed))
                corpus = index.corpus(row["parent"], PYTHON)
                items = candidate_items(corpus, Wide().candidates(corpus, query))
                found = features(query, items, Path(encoder), NEURAL if encoder else ()) if items else {}
            except FirstpageError:  # such as a commit that a shallow clone lacks
                continue
            if not items:
                continue
            right = set(gold(row)) or {file["path"] for file in row["files"]}
            matrix = np.stack(list(found.values()), axis=1).astype(np.float32)
            yield row["id"], list(found), matrix, np.array([item.id in right for item in items]), real


def _save(file: Path, tasks: Sequence[tuple[str, list[str], NDArray[Any], NDArray[Any], bool]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part.npz")
    empty = np.zeros(0)
    np.savez(
        part,
        ids=np.array([task[0] for task in tasks]),
        columns=np.array(tasks[0][1] if tasks else []),
        rows=np.concatenate([task[2] for task in tasks]) if tasks else empty,
        gold=np.concatenate([task[3] for task in tasks]) if tasks else empty,
        sizes=np.array([len(task[3]) for task in tasks], dtype=np.int64),
        real=np.array([task[4] for task in tasks], dtype=np.bool_),
    )
    part.replace(file)


def _load(file: Path, repo: str, config: FusionConfig) -> tuple[list[str], list[Ranked]]:
    with np.load(file) as kept:
        ends = np.cumsum(kept["sizes"])
        rows, right = np.split(kept["rows"], ends[:-1]), np.split(kept["gold"].astype(np.bool_), ends[:-1])
        tasks = [
            Ranked(str(name), repo, matrix, correct, config.issue_weight if real else 1.0)
            for name, matrix, correct, real in zip(kept["ids"], rows, right, kept["real"], strict=False)
        ]
        return [str(name) for name in kept["columns"]], tasks


def _digest(config: FusionConfig, repo: str, rows: Sequence[Row]) -> str:
    """Names what the columns of a repository's tasks depend on."""
    encoder = config.encoder_of(repo)
    told = [FORMAT, repo, _hash(encoder) if encoder else "", config.seed, [row["id"] for row in rows]]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]


@cache
def _hash(encoder: str) -> str:
    """Of an encoder's weights, which are read once, not for each repository."""
    return StaticEncoder(Path(encoder)).hash
