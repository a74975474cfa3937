"""Refuses to train on what an evaluation names: a repository, whatever it is called here, or a document.

The names stand in ``held_out.json``: facts alone, made by ``python -m firstpage.scripts.held_out``. A
repository is known by its name and by its commits: a fork, or a clone of another name, holds the base
commits of an evaluation's tasks, or its root. Only a shallow clone under another name holds neither. A
document is known by its name, by the SHA-256 of its words, and, where it was cut or edited, by a sketch: a
few of its runs of eight words.

Two purposes differ. ``neural`` weights see nothing of the six development repositories; the ``fusion`` of
signals is trained on the development tasks.
"""

import hashlib
import json
import re
import unicodedata
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.git import GitStore
from .changes import sizes

PURPOSES = ("neural", "fusion")

_FILE = Path(__file__).parent / "held_out.json"
_RUN = 8  # words of which a sketch takes a hash
_SKETCH = 64  # hashes kept of a document, the smallest
_SHARED = 0.25  # of a sketch that a document may not hold
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What evaluations name.

    Args:
        repositories: by ``owner/name`` in lower case, aliases too: the name proper and the evaluation.
        commits: base commits and roots by object name: the repository they are of and the evaluation.
        development: names proper of the repositories that only ``neural`` may not see.
        prefixes: how the names of a held-out set's documents start: the evaluation.
        digests: of documents' words: their name and the evaluation.
        sketches: name and evaluation of a document, and its hashes.
    """

    repositories: Mapping[str, tuple[str, str]]
    commits: Mapping[str, tuple[str, str]]
    development: frozenset[str]
    prefixes: Mapping[str, str]
    digests: Mapping[str, tuple[str, str]]
    sketches: Iterable[tuple[str, str, frozenset[int]]]


@cache
def held_out() -> HeldOut:
    """What the file beside this module names."""
    read = json.loads(_FILE.read_bytes())
    repositories: dict[str, tuple[str, str]] = {}
    commits: dict[str, tuple[str, str]] = {}
    for name, about in read["repositories"].items():
        told = (name, about["evaluation"])
        repositories |= {alias.lower(): told for alias in (name, *about["aliases"])}
        commits |= dict.fromkeys((*about["roots"], *about["base_commits"]), told)
    documents = read["documents"].values()
    return HeldOut(
        repositories=repositories,
        commits=commits,
        development=frozenset(read["development"]),
        prefixes=read["prefixes"],
        digests={about["sha256"]: (name, about["evaluation"]) for name, about in read["documents"].items()},
        sketches=[(about["title"], about["evaluation"], frozenset(about["sketch"])) for about in documents],
    )


def repository_held_out(name: str, purpose: str = "neural") -> str:
    """Why nothing may be trained on the repository of this name; empty if it may."""
    told = held_out().repositories.get(name.lower())
    return _names(name, *told) if told and _bars(told[0], purpose) else ""


def commit_held_out(commit: str, purpose: str = "neural") -> str:
    """Why nothing may be trained on a task of this base commit; empty if it may."""
    told = held_out().commits.get(commit)
    if not told or not _bars(told[0], purpose):
        return ""
    return f"commit {commit[:12]} is one of {told[0]}, held out for {told[1]}"


def store_held_out(name: str, store: GitStore, purpose: str = "neural") -> str:
    """Why nothing may be trained on the repository, by its name or its commits; empty if it may."""
    if why := repository_held_out(name, purpose):
        return why
    asked = [commit for commit, (of, _) in held_out().commits.items() if _bars(of, purpose)]
    if not (found := sorted(sizes(store, asked))):
        return ""
    of, evaluation = held_out().commits[found[0]]
    return f"'{name}' holds commit {found[0][:12]} of {of}, held out for {evaluation}"


def document_held_out(doc_id: str, text: str) -> str:
    """Why nothing may be trained on the document, by its name or its words; empty if it may."""
    known = held_out()
    for prefix, evaluation in known.prefixes.items():
        if doc_id.lower().startswith(prefix):
            return f"the document '{doc_id}' is held out for {evaluation}"
    if told := known.digests.get(digest(text)):
        return f"the document '{doc_id}' is '{told[0]}', held out for {told[1]}"
    runs = _runs(text)
    for title, evaluation, sketch in known.sketches:
        if len(sketch & runs) > _SHARED * len(sketch):
            return f"the document '{doc_id}' repeats much of '{title}', held out for {evaluation}"
    return ""


def check_rows(rows: Iterable[tuple[str, Mapping[str, Any]]], purpose: str = "neural") -> None:
    """Refuses rows that were mined from what is held out.

    Args:
        rows: what to call each, and the row.
        purpose: ``neural`` or ``fusion``.

    Raises:
        InputError: one of them is; it says which and why.
    """
    for name, row in rows:
        if why := row_held_out(row, purpose):
            raise refusal(why, name)


def row_held_out(row: Mapping[str, Any], purpose: str = "neural") -> str:
    """Why nothing may be trained on a mined row; empty if it may."""
    if "doc_id" in row:
        return document_held_out(str(row["doc_id"]), "")
    return repository_held_out(str(row.get("repo")), purpose) or commit_held_out(
        str(row.get("parent")), purpose
    )


def refusal(why: str, where: str = "") -> InputError:
    """The error of a command that was given something held out."""
    place = f"{where}: " if where else ""
    return InputError(f"{place}{why}; nothing is trained on it")


def digest(text: str) -> str:
    """The SHA-256 of a text's words, whatever its case, white space and punctuation."""
    return hashlib.sha256(_words(text)).hexdigest()


def sketch(text: str) -> list[int]:
    """The smallest hashes of a text's runs of words, ascending."""
    return sorted(_runs(text))[:_SKETCH]


def _bars(repository: str, purpose: str) -> bool:
    return purpose == "neural" or repository not in held_out().development


def _names(name: str, proper: str, evaluation: str) -> str:
    alias = "" if name.lower() == proper.lower() else f" is {proper} under another name and"
    return f"'{name}'{alias} is held out for {evaluation}"


def _words(text: str) -> bytes:
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold())).encode("utf-8", "replace")


def _runs(text: str) -> set[int]:
    words = _words(text)
    ends = [place for place, byte in enumerate(words) if byte == 0x20]
    starts = [0, *(end + 1 for end in ends)]
    ends.append(len(words))
    return {zlib.crc32(words[start:end]) for start, end in zip(starts, ends[_RUN - 1 :], strict=False)}
