"""The documents of a repository's files, exactly as a model reads them, and which one a change is about.

A file is read as chunks that follow its structure, each under a line with its path and the definition around
it, or as one outline.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..core.git import GitStore, TreeFile
from ..readers.chunks import READ, chunks, document, outline
from .files import is_made
from .rows import Row

FORMS = ("chunks", "outlines")

_IMPORT = re.compile(r"\s*(?:import|from|use|using|#\s*include)\b")
_BLANK = 2  # lines between a function and what is added to it, at most
_KEPT = 4096  # files whose documents stay in memory: all of a commit's, in most repositories


@dataclass(frozen=True, slots=True)
class Document:
    """What a model reads at once.

    Args:
        text: all of it.
        body: without its first line, which names the file: copies of each other are equal here.
        start: the first line of the file that it holds, from 1.
        end: the line after the last.
    """

    text: str
    body: str
    start: int
    end: int


class Documents:
    """The documents of files, each file read and split once.

    Args:
        store: of the repository; closing it is the caller's business.
        form: ``chunks`` or ``outlines``.
    """

    def __init__(self, store: GitStore, form: str = FORMS[0]) -> None:
        self._store = store
        self._form = form
        self.of = lru_cache(_KEPT)(self._of)

    def _of(self, file: TreeFile) -> tuple[Sequence[Document], str]:
        """The file's documents in order; or none, and why."""
        content = self._store.content(file.blob)
        if content is None:
            return (), "missing blob"
        if len(content) > READ:
            return (), "large file"
        if is_made(content):
            return (), "vendored or generated"
        text = content.decode("utf-8", "replace")
        if not text.strip():
            return (), "empty file"
        if self._form == "outlines":
            return (_outlined(file.path, text),), ""
        return [
            Document(document(chunk), chunk.text, chunk.start, chunk.end)
            for chunk in chunks(file.path, text)
            if chunk.text.strip()
        ], ""


def changed_document(documents: Sequence[Document], file: Row) -> Document:
    """The document that holds most of a file's changed lines.

    Lines within the functions that are touched count first, and imports last: those that come with a change
    do not stand for it. A place where lines are added counts as one line.

    Args:
        documents: of the file, at least one.
        file: of a row, as `files` tells.
    """
    spans = [(function["start"], function["end"]) for function in file["functions"]]
    lines: list[int] = []
    for start, end in file["lines"]:
        lines += range(start, end) if start < end else [_place(start, spans)]
    last = documents[-1].end - 1
    lines = [min(line, last) for line in lines]
    inside = [line for line in lines if any(start <= line < end for start, end in spans)]
    imports = _imports(documents)
    others = [line for line in lines if line not in imports]
    return max(documents, key=lambda one: tuple(_held(one, some) for some in (inside, others, lines)))


def _place(added: int, spans: Sequence[tuple[int, int]]) -> int:
    """The line for a place before which lines are added: the last one of the function that they extend."""
    if any(start <= added < end for start, end in spans):
        return added
    return max((end - 1 for _, end in spans if end <= added <= end + _BLANK), default=added)


def _imports(documents: Sequence[Document]) -> set[int]:
    """The lines that import something, and those after them, before which one more would be added."""
    found = {
        line
        for one in documents
        for line, text in enumerate(one.body.split("\n"), one.start)
        if _IMPORT.match(text)
    }
    return found | {line + 1 for line in found}


def _held(document: Document, lines: Sequence[int]) -> int:
    return sum(document.start <= line < document.end for line in lines)


def _outlined(path: str, text: str) -> Document:
    told = outline(path, text)
    return Document(told, told.partition("\n")[2], 1, text.count("\n") + 2)
