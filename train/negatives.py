r"""Examples to train on: each question with the document it is about, and some that are hard to tell from it.

An example::

    {"source": "history", "id": "1b40d9367a3e", "repo": "celery/celery", "query": "RPC result backend …",
     "positive": "celery/backends/rpc.py > class RPCBackend > def poll\n    def poll(self, …",
     "negatives": ["…", …], "kinds": ["bm25", "folder", …]}

There is one for each row and file that it changed: a pair. Documents are as `documents` tells, of the parent
commit; ``kinds`` tells of each negative how it was found (`negative_kinds`).

What the model finds may answer the question as well. A dense negative has therefore at most 95 % of the
positive's cosine with the query (``TopK-PercPos`` of NV-Retriever, Moreira et al. 2024, arXiv 2407.15831).
Other kinds know no margin: unlike the passages of a web page, the files that a change leaves alone are
labelled, and what a model wrongly puts above the positive is what it has to learn. A pair whose positive no
scorer finds is left out, as its text does not tell what it is about (consistency filters of CoRNStack, arXiv
2412.01007, and E5, arXiv 2212.03533).
"""

import hashlib
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.git import GitStore
from ..readers.blob_index import BlobIndex
from .examples import Miner, Recipe, Tally
from .guard import PURPOSES, refusal, row_held_out, store_held_out
from .negative_kinds import KINDS
from .rows import Row, RowsFile, field, line_of, read_rows
from .similarity import Similarity, fingerprint

FORMAT = 1  # of the examples; what was begun with another is not gone on with
BLOCK = 20  # rows after which what is done is written down

Progress = Callable[[int, int], None]


def mine_negatives(
    rows: Mapping[str, Sequence[Row]],
    repositories: Mapping[str, str | Path],
    out: str | Path,
    model: str | Path | None = None,
    recipe: Recipe | None = None,
    purpose: str = PURPOSES[0],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Writes the examples of mined rows, repository by repository, in their order.

    Killed at any moment and started again, it goes on where it stopped. The file's bytes depend on the rows,
    the repositories and the arguments alone, and with a model on the machine's arithmetic.

    Args:
        rows: by repository, as `rows_by_repository` gives them.
        repositories: folder of each.
        out: file to write; gzipped if it ends in ``.gz``.
        model: folder of a bi-encoder for the kind ``dense``, and to find positives that BM25 does not.
        recipe: all kinds that can be had, if None.
        purpose: ``neural`` or ``fusion``, which may see the development tasks.
        progress: called with (rows done, rows to do).

    Returns:
        Rows, pairs, examples, why pairs made none, and negatives by kind, in all and by repository, and the
        seconds of this run.

    Raises:
        InputError: a repository is held out, or it or the model cannot be used, or no row makes an example.
        MissingExtraError: what the model needs is not installed.
        RunError: a repository cannot be read, or the file cannot be written.
    """
    started = time.monotonic()
    recipe = recipe or Recipe(kinds=[kind for kind in KINDS if model or kind != "dense"])
    if "dense" in recipe.kinds and model is None:
        raise InputError("--kinds dense needs --model, the folder of a bi-encoder; or leave dense out")
    with ExitStack() as stack:
        stores = {name: stack.enter_context(_opened(name, repositories, purpose)) for name in rows}
        settings = {
            "format": FORMAT, "recipe": asdict(recipe), "model": model and fingerprint(model),
            "rows": _digest(rows), "heads": {name: store.commit() for name, store in stores.items()},
        }  # fmt: skip
        file = stack.enter_context(RowsFile(out, settings))
        tallies = {name: Tally.of_json(file.state.get(name, {})) for name in rows}
        to_do, gone_on = sum(map(len, rows.values())), sum(tally.rows for tally in tallies.values())
        similarity = Similarity(model) if model else None
        for name, store in stores.items():
            left = iter(rows[name][tallies[name].rows :])
            if tallies[name].rows == len(rows[name]):  # an earlier run did them all
                continue
            with BlobIndex(store) as index:
                miner = Miner(store, index, recipe, similarity, tallies[name])
                while block := list(islice(left, BLOCK)):
                    examples = [example for row in block for example in miner.examples(row)]
                    file.add(examples, {name: tally.as_json() for name, tally in tallies.items()})
                    if progress:
                        progress(sum(tally.rows for tally in tallies.values()), to_do)
        summary = _summary(tallies, time.monotonic() - started, gone_on)
        if not summary["examples"]:
            file.discard()
            reasons = ", ".join(f"{reason} {count}" for reason, count in summary["dropped"].items())
            raise InputError(f"no row makes an example ({reasons or 'it has none'})")
        file.finish()
    return summary


def rows_by_repository(
    paths: Sequence[str | Path], most: int | None = None, seed: int = 0, purpose: str = PURPOSES[0]
) -> dict[str, list[Row]]:
    """The rows of each repository in their order, after the guard has looked at them.

    Args:
        paths: files that ``firstpage mine history`` or ``swebench`` wrote.
        most: of each repository, drawn by lot; all if None.
        seed: of the lot.
        purpose: ``neural`` or ``fusion``, which may see the development tasks.

    Raises:
        InputError: a file cannot be read, or a row is of no repository or held out.
    """
    found: dict[str, list[Row]] = {}
    for path in paths:
        for name, row in read_rows(path):
            _check(name, row)
            if why := row_held_out(row, purpose):
                raise refusal(why, name)
            found.setdefault(row["repo"], []).append(row)
    if most is None:
        return found
    return {name: _drawn(rows, most, random.Random(f"{seed} {name}")) for name, rows in found.items()}


def _opened(name: str, repositories: Mapping[str, str | Path], purpose: str) -> GitStore:
    if name not in repositories:
        raise InputError(f"--repos lacks {name}, which the rows are of; add it or leave its rows out")
    store = GitStore(repositories[name])
    if why := store_held_out(name, store, purpose):
        store.close()
        raise refusal(why)
    return store


def _drawn(rows: list[Row], most: int, lot: random.Random) -> list[Row]:
    if len(rows) <= most:
        return rows
    return [rows[place] for place in sorted(lot.sample(range(len(rows)), most))]


def _digest(rows: Mapping[str, Sequence[Row]]) -> str:
    told = hashlib.sha256()
    for row in chain.from_iterable(rows.values()):
        told.update(f"{line_of(row)}\n".encode())
    return told.hexdigest()


def _check(name: str, row: Row) -> None:
    """Raises InputError where the row is none of `history`'s."""
    for key in ("source", "id", "repo", "commit", "parent", "query"):
        field(name, row, key)
    for key in ("files", "tests", "beside"):
        field(name, row, key, list)
    for file in row["files"]:
        told = file if isinstance(file, dict) else {}
        field(f"a file of {name}", told, "path")
        for key in ("lines", "functions"):
            field(f"a file of {name}", told, key, list)


def _summary(tallies: Mapping[str, Tally], seconds: float, gone_on: int) -> dict[str, Any]:
    """All tallies together and each; rows that an earlier run did are not in the pace."""
    every = Tally()
    for tally in tallies.values():
        every.add(tally)
    return every.as_json() | {
        "repositories": {name: tally.as_json() for name, tally in tallies.items()},
        "seconds": round(seconds, 1),
        "rows_per_minute": round(60 * (every.rows - gone_on) / seconds) if seconds else 0,
    }
