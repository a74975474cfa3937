"""File names, one a line or each with a NUL: ``rg -l``, ``grep -rl``, ``find``, ``git ls-files``.

Lines with other columns around the name are such a list too: ``git ls-tree -r``, ``git diff --stat``,
``--numstat`` or ``--name-status``, ``git status --short``, ``ls -l``, ``wc -l``, ``du``.

An item is a line exactly as written; its ``path`` is what the name in it means. A first line that ends in
a colon or counts (``Found 3 files``, ``total 8``) is the header, a last line in parentheses or with a sum
the footer. Colours are looked through and kept. Not significant: a missing last NUL, which is added.
"""

import re
from collections.abc import Sequence

from ..items import Item
from ._columns import LOOSE, columns_of, named
from ._names import has_extension, is_file_like, is_name_like, lookup_path
from ._text import read_lines
from .answer import LinesAnswer

_HEADER = re.compile(
    r".*:|(?:found )?\d+ (?:file|path|result|match)(?:s|es)?\b.*|total [\d.]+\w?", re.IGNORECASE
)
_FOOTER = re.compile(r"\(.*\)|[\s\d]+ total| \d+ files? changed.*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LONGEST = 4096  # PATH_MAX of Linux


class PathsAnswer(LinesAnswer):
    """Names of files."""

    form = "paths"


def parse_paths(text: str) -> PathsAnswer:
    """The names in ``text``, which is split at NUL if it has one that no line's end follows."""
    nul_separated = "\0" in text and (text.endswith("\0") or "\n" not in text)
    read = read_lines(text, "\0" if nul_separated else None)
    plain = read.lines if nul_separated else read.plain
    start, end = (0, len(plain)) if nul_separated else _inner(plain)
    columns = None if nul_separated else columns_of(plain[start:end])
    items: list[Item] = []
    after = start
    for place in range(start, end):
        name = plain[place]
        if name if nul_separated else name.strip():
            found = columns.fullmatch(name) if columns else None
            path = named(found["name"]) if found else lookup_path(name)
            metadata = {"path": path, "gap": read.joined(after, place)}
            items.append(Item(str(len(items) + 1), read.lines[place], metadata=metadata))
            after = place + 1
    header, footer = read.joined(0, start), read.joined(end, len(read.lines))
    return PathsAnswer(items, header, footer, read.separator, read.terminated or nul_separated)


def looks_like_paths(sample: str) -> bool:
    """Whether lines have columns, or nearly all could be names of files and a quarter of them surely are.

    Names that end in NUL need no such likeness, as next to nothing else is written so; binary data is not,
    for it has empty runs and control characters.
    """
    if "\0" in sample and ("\n" not in sample or sample.endswith("\0")):
        return all(map(_could_be_name, sample.removesuffix("\0").split("\0")))
    lines = read_lines(sample).plain
    start, end = _inner(lines)
    columns = columns_of(lines[start:end])
    if columns and columns not in LOOSE:
        return True
    found = [
        (columns.fullmatch(line) if columns else None, line) for line in lines[start:end] if line.strip()
    ]
    texts = [named(match["name"]) if match else line for match, line in found]
    sure = sum(map(is_file_like, texts))
    likely = sum(is_file_like(text) or is_name_like(text) or has_extension(text) for text in texts)
    return sure > 0 and len(texts) <= 4 * sure and 20 * likely >= 19 * len(texts)


def _could_be_name(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and not _CONTROL.search(text)


def _inner(lines: Sequence[str]) -> tuple[int, int]:
    """Where the names start and end between the header and the footer."""
    start, end = _trimmed(lines, 0, len(lines))
    if start < end and _HEADER.fullmatch(lines[start]):
        start += 1
    if start < end and _FOOTER.fullmatch(lines[end - 1]):
        end -= 1
    return _trimmed(lines, start, end)


def _trimmed(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """The same without the blank lines at both ends."""
    while start < end and not lines[start].strip():
        start += 1
    while start < end and not lines[end - 1].strip():
        end -= 1
    return start, end
