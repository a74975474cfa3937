"""What the fused ranker is trained on: the columns of tasks, worked out once for each repository and kept."""

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import FirstpageError, InputError
from ..core.files import write_atomically
from ..core.git import GitStore
from ..core.items import Item, Query
from ..readers.bi_encoder import COLUMNS as NEURAL
from ..readers.blob_index import BlobIndex
from ..readers.candidates import Wide, candidate_items
from ..readers.corpus import Corpus
from ..readers.fused import features
from ..readers.sources import PYTHON
from ..readers.static_encoder import StaticEncoder
from .answers import FORMS, answer
from .config import FusionConfig
from .guard import check_rows, refusal, store_held_out
from .issues import choose, gold, issue
from .rows import Row, line_of, read_rows

FORMAT = 2  # of what is kept; raise it whenever a column means something else
# What can be left out to see what it is worth. `hybrid`, a column of its own, is made of four of the groups.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "contents": ("content", "hybrid"),
    "paths": ("path", "name", "hybrid"),
    "mentions": ("named", "frames", "dotted", "imported", "hybrid"),
    "definitions": ("defines",),
    "history": ("votes", "best vote", "changes", "changed of late", "years since"),
    "kind_of_file": (
        "test",
        "beside",
        "depth",
        "size",
        "names",
        "package",
        "is test",
        "main folder",
        "hybrid",
    ),
    "meaning": ("outline", "chunk", "chunks"),
}

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Ranked:
    """The candidates of one task, as the trees see them.

    Args:
        id: of the task.
        repo: its repository.
        rows: shape ``(candidates, columns)``.
        gold: shape ``(candidates,)``, which of them are right.
        real: whether it is an issue, and not a commit that is made like one.
        share: of its row, which may make several tasks, one a form of answer.
    """

    id: str
    repo: str
    rows: NDArray[np.float32]
    gold: NDArray[np.bool_]
    real: bool
    share: float = 1.0


@dataclass(frozen=True)
class Tasks:
    """All tasks of a training.

    Args:
        columns: their names.
        tasks: in the order of their repositories.
        left_out: rows whose commits or files are not there, or of which no candidate comes.
    """

    columns: Sequence[str]
    tasks: Sequence[Ranked]
    left_out: int


def work_out(
    config: FusionConfig,
    repositories: Mapping[str, Path],
    kind: str,
    folder: Path,
    progress: Progress | None = None,
) -> Tasks:
    """The tasks of all rows of a configuration.

    Args:
        config: of the training.
        repositories: git directory by ``owner/name``.
        kind: ``commit``: the candidates are of a commit; or ``answer``: they are all that is known.
        folder: where what was worked out is kept.
        progress: called with the numbers of rows done and to do.

    Raises:
        InputError: a file or a repository cannot be used, or is held out; or no candidate is right.
    """
    asked = _asked(config, repositories)
    total, done = sum(map(len, asked.values())), 0
    columns: list[str] = []
    tasks: list[Ranked] = []
    for repo, rows in asked.items():
        with GitStore(repositories[repo]) as store:
            there = [row for row in rows if _is_there(row, store)]
            file = folder / f"{_digest(config, kind, repo, there)}.npz"
            if not file.is_file():
                if why := store_held_out(repo, store, "fusion"):
                    raise refusal(why)
                _save(file, list(_worked_out(config, kind, repo, there, store)))
        names, found = _load(file, repo)
        columns = columns or names
        tasks += found
        done += len(rows)
        if progress:
            progress(done, total)
    if not any(task.gold.any() for task in tasks):
        raise InputError("rows: none of their files is among the candidates of its commit")
    for name in config.leave_out:
        if not any(is_among(column, [name]) for column in columns):
            raise InputError(f"leave_out: no column is called '{name}'; there are {', '.join(columns)}")
    keep = [place for place, name in enumerate(columns) if not is_among(name, config.leave_out)]
    if not keep:
        raise InputError("leave_out: leaves no column; name fewer")
    made = Counter((task.repo, task.id) for task in tasks)
    kept = [replace(task, rows=task.rows[:, keep], share=1 / made[task.repo, task.id]) for task in tasks]
    return Tasks([columns[place] for place in keep], kept, total - len(made))


def is_among(column: str, names: Sequence[str]) -> bool:
    """Whether a column is one of those that begin with these words.

    Example:
        >>> [is_among(column, ["name"]) for column in ("name", "name of title", "name/best", "named")]
        [True, True, True, False]
    """
    return any(re.match(rf"{re.escape(name)}\b", column) for name in names)


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
    for repo, rows in by_repo.items():  # sets of issues may share some
        by_repo[repo] = list({row["id"]: row for row in rows}.values())
    for repo, rows in commits.items():
        chosen = choose(rows, config.newest, config.per_repository, config.seed)
        by_repo[repo] = [*by_repo.get(repo, []), *chosen]
    return by_repo


def _worked_out(
    config: FusionConfig, kind: str, repo: str, rows: Sequence[Row], store: GitStore
) -> Iterator[tuple[str, list[str], NDArray[np.float32], NDArray[np.bool_], bool]]:
    encoder = config.encoder_of(repo)
    with BlobIndex(store) as index:
        for row in rows:
            real = row["source"] == "swebench"
            query = Query(row["query"] if real else issue(row, store, config.seed))
            corpus = index.corpus(row["parent"], PYTHON)
            right = set(gold(row)) or {file["path"] for file in row["files"]}
            for items in _items(kind, corpus, query, row, config.seed):
                found = features(query, items, Path(encoder), NEURAL if encoder else ())
                matrix = np.stack(list(found.values()), axis=1).astype(np.float32)
                yield row["id"], list(found), matrix, np.array([item.id in right for item in items]), real


def _is_there(row: Row, store: GitStore) -> bool:
    """Whether the repository holds the commits of a row and the files that they differ in."""
    try:
        store.commit(row["parent"])
        if row["source"] != "swebench":
            store.difference(row["parent"], row["commit"])
    except FirstpageError:
        return False
    return True


def _items(kind: str, corpus: Corpus, query: Query, row: Row, seed: int) -> Iterator[list[Item]]:
    """The candidates of a row; as answers, an issue's in each form and a commit's in one, drawn by lot."""
    if kind == "commit":
        made = [candidate_items(corpus, Wide().candidates(corpus, query))]
    elif row["source"] == "swebench":
        made = [answer(corpus, query, form) for form in FORMS]
    else:
        made = [answer(corpus, query, random.Random(f"{seed} {row['id']}").choice(FORMS))]
    yield from filter(None, made)


def _save(file: Path, tasks: Sequence[tuple[str, list[str], NDArray[Any], NDArray[Any], bool]]) -> None:
    empty = np.zeros(0)
    whole = BytesIO()
    np.savez(
        whole,
        ids=np.array([task[0] for task in tasks]),
        columns=np.array(tasks[0][1] if tasks else []),
        rows=np.concatenate([task[2] for task in tasks]) if tasks else empty,
        gold=np.concatenate([task[3] for task in tasks]) if tasks else empty,
        sizes=np.array([len(task[3]) for task in tasks], dtype=np.int64),
        real=np.array([task[4] for task in tasks], dtype=np.bool_),
    )
    write_atomically(file, whole.getvalue())


def _load(file: Path, repo: str) -> tuple[list[str], list[Ranked]]:
    with np.load(file) as kept:
        ends = np.cumsum(kept["sizes"])
        if not ends.size:
            return [], []
        rows, right = np.split(kept["rows"], ends[:-1]), np.split(kept["gold"].astype(np.bool_), ends[:-1])
        tasks = [
            Ranked(str(name), repo, matrix, correct, bool(real))
            for name, matrix, correct, real in zip(kept["ids"], rows, right, kept["real"], strict=True)
        ]
        return [str(name) for name in kept["columns"]], tasks


def _digest(config: FusionConfig, kind: str, repo: str, rows: Sequence[Row]) -> str:
    """Names what the columns of a repository's tasks depend on."""
    encoder = config.encoder_of(repo)
    told = [
        FORMAT,
        kind,
        repo,
        encoder_hash(encoder) if encoder else "",
        config.seed,
        list(map(line_of, rows)),
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]


@cache
def encoder_hash(encoder: str) -> str:
    """Of an encoder's weights, which are read once, not for each repository."""
    return StaticEncoder(Path(encoder)).hash
