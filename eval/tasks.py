"""Tasks in SWE-bench's format: an issue, a commit, and the files that mended it."""

import gzip
import hashlib
import json
import logging
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import InputError, MissingExtraError, RunError
from ..core.formats.diff import parse_diff

# Name to data set and split on the Hugging Face hub.
HUB = {
    "verified": ("princeton-nlp/SWE-bench_Verified", "test"),
    "lite": ("princeton-nlp/SWE-bench_Lite", "test"),
    "dev": ("princeton-nlp/SWE-bench", "dev"),
}
FIELDS = ("instance_id", "repo", "base_commit", "problem_statement", "patch")

# In the header of a file, where no line starts with these by chance as one of a hunk may.
_DELETED = re.compile(r"^(?:deleted file mode |\+\+\+ /dev/null\b)", re.MULTILINE)

Rows = Iterable[tuple[str, Any]]  # what to call a row in a message, and the row


@dataclass(frozen=True, slots=True)
class Task:
    """A question about a repository whose answer is known.

    Args:
        instance_id: name of the task.
        repo: ``owner/name``.
        base_commit: what the question was asked about.
        query: the issue's text and nothing else.
        gold: paths of the files that the patch leaves changed or new, in its order.
    """

    instance_id: str
    repo: str
    base_commit: str
    query: str
    gold: Sequence[str]


def load_tasks(source: str | Path) -> list[Task]:
    """The tasks of a file or of a set on the Hugging Face hub.

    Args:
        source: path of a ``.jsonl``, ``.jsonl.gz``, ``.json`` or ``.parquet`` file, or ``verified``,
            ``lite`` or ``dev`` for the set of that name.

    Raises:
        InputError: the file cannot be read, or a row of it is no task; names file, row and field.
        MissingExtraError: what reads Parquet, or the hub, is not installed.
        RunError: the hub cannot be reached.
    """
    rows = _hub_rows(str(source)) if str(source) in HUB else read_rows(Path(source))
    tasks = [_task(name, row) for name, row in rows]
    if not tasks:
        raise InputError(f"'{source}' has no tasks")
    if repeated := _repeated(task.instance_id for task in tasks):
        raise InputError(f"'{source}' has the task '{repeated}' twice")
    return tasks


def load_candidates(path: str | Path) -> dict[str, list[str]]:
    """Candidates made earlier: ``instance_id`` and ``candidates``, a list of paths in the generator's order.

    Args:
        path: of a file of any kind that `load_tasks` reads.

    Returns:
        Paths by name of the task.

    Raises:
        InputError: the file cannot be read, or a row of it has not those two fields.
        MissingExtraError: what reads Parquet is not installed.
    """
    found: dict[str, list[str]] = {}
    for name, row in read_rows(Path(path)):
        checked = _with_fields(name, row, ("instance_id",))
        paths = row.get("candidates")
        if not isinstance(paths, list) or not all(isinstance(one, str) for one in paths):
            raise InputError(f"{name} needs the field 'candidates', a list of paths")
        if checked["instance_id"] in found:
            raise InputError(f"{name} repeats the task '{checked['instance_id']}'")
        found[checked["instance_id"]] = paths
    return found


def gold_paths(patch: str) -> list[str]:
    r"""The files that a patch leaves changed or new, in its order, renamed ones by their new names.

    Example:
        >>> gold_paths("--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@")
        ['x.py']
    """
    files = parse_diff(patch).items
    left = (file for file in files if not _DELETED.search(file.text.partition("\n@@")[0]))
    return list(dict.fromkeys(str(file.path) for file in left if file.path))


def digest(tasks: Sequence[Task]) -> str:
    """The SHA-256 of all that the tasks say, whatever file they came from."""
    said = [
        [task.instance_id, task.repo, task.base_commit, task.query, list(task.gold)]
        for task in sorted(tasks, key=lambda task: task.instance_id)
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def read_rows(path: Path) -> Rows:
    """The rows of a JSON Lines, JSON or Parquet file, each with what to call it in a message.

    Raises:
        InputError: the file cannot be read or is of no such kind.
        MissingExtraError: what reads Parquet is not installed.
    """
    if path.suffix == ".parquet":
        return _parquet_rows(path)
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        text = content.decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read '{path}': {reason}") from error
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    return _json_rows(path, text) if kind == ".json" else _json_lines(path, text)


def _json_lines(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{path}, line {number}", _parsed(f"{path}, line {number}", line)


def _json_rows(path: Path, text: str) -> Rows:
    rows = _parsed(str(path), text)
    if not isinstance(rows, list):
        raise InputError(f"'{path}' must hold one JSON array of objects; use .jsonl for one object a line")
    return [(f"{path}, object {number}", row) for number, row in enumerate(rows, 1)]


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{name} is no JSON: {error}") from error


def _parquet_rows(path: Path) -> Rows:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("reading Parquet", "eval") from None
    try:
        rows = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"cannot read '{path}': {str(error).splitlines()[0]}") from error
    return [(f"{path}, row {number}", row) for number, row in enumerate(rows, 1)]


def _hub_rows(name: str) -> Rows:
    try:
        import datasets
    except ImportError:
        raise MissingExtraError(f"loading '{name}' from the Hugging Face hub", "eval") from None
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it reports every retry
    data_set, split = HUB[name]
    try:
        loaded = datasets.load_dataset(data_set, split=split)
    except Exception as error:  # whatever its HTTP client raises
        raise RunError(
            f"{data_set} is not on this machine and could not be fetched from the Hugging Face hub "
            f"({type(error).__name__}); run once on line, or give the path of a file of tasks"
        ) from error
    return [(f"{data_set}, row {number}", row) for number, row in enumerate(loaded, 1)]


def _task(name: str, row: object) -> Task:
    field = _with_fields(name, row, FIELDS)
    return Task(
        instance_id=field["instance_id"],
        repo=field["repo"],
        base_commit=field["base_commit"],
        query=field["problem_statement"],
        gold=gold_paths(field["patch"]),
    )


def _with_fields(name: str, row: object, fields: Sequence[str]) -> Mapping[str, str]:
    if not isinstance(row, dict):
        raise InputError(f"{name} is no object with the fields {', '.join(fields)}")
    for field in fields:
        if not isinstance(row.get(field), str):
            raise InputError(f"{name} needs the field '{field}', a string")
    return row


def _repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
