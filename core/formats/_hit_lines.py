"""Which file each line of a search belongs to, in each of the ways that search tools print it."""

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from ._names import is_file_like, is_name_like

SEPARATORS = frozenset({"", "--"})

# Lazy up to the first `:12:`; a longer name than any file system has is no name.
_MATCH = re.compile(r"(.{1,4096}?):(\d{1,10}):")
_NUMBER = re.compile(r"([:=-])(\d{1,10})\1")
_CONTEXT = re.compile(r"([=-])(\d{1,10})\1")
_NAME = re.compile(r"((?:[A-Za-z]:(?=[\\/]))?[^:]{1,4096}):")
_BARE = re.compile(r"(\d{1,10})([:=-])")
_BINARY = re.compile(r"(?:Binary file (.+) matches|(?:grep: )?(.+): binary file matches(?: \(.*\))?)\r?")
_COMPLAINT = ("grep: ", "rg: ", "git: ")
_LOOKAHEAD = 20  # lines of context before a match, and places in a line where a name may end
_SAMPLE = 400


class Hit(NamedTuple):
    """What a line is.

    Attributes:
        name: of its file, as the tool wrote it.
        number: of the line in the file, where the tool wrote it.
        sign: ``:`` of a match, ``-`` or ``=`` of a line of context, nothing of a heading.
    """

    name: str
    number: int | None
    sign: str


LineParser = Callable[[Sequence[str]], list[Hit | None]]


def line_parser(lines: Sequence[str]) -> LineParser:
    """The parser that suits these lines, by the first 400 of them."""
    sample = [line for line in islice(lines, _SAMPLE) if line not in SEPARATORS]
    if any("\0" in line for line in sample):
        fitting = sum("\0" in line or _BARE.match(line) is not None for line in sample)
        if 2 * fitting >= len(sample):
            return read_nul
    if _is_headed(sample):
        return read_headed
    head = lines[:_SAMPLE]
    numbered = sum(hit is not None and hit.number is not None for hit in read_numbered(head))
    named = sum(hit is not None for hit in read_unnumbered(head))
    return read_numbered if numbered and 2 * numbered >= named else read_unnumbered


def read_nul(lines: Sequence[str]) -> list[Hit | None]:
    """A NUL after the name: ``grep -Z``, ``rg -0``, with ``--heading`` only in a file's first line."""
    hits: list[Hit | None] = []
    name = ""
    for line in lines:
        written, nul, text = line.partition("\0")
        name = written if nul else name
        numbered = _BARE.match(text if nul else line)
        if name and numbered:
            hits.append(Hit(name, int(numbered[1]), numbered[2]))
        else:
            hits.append(Hit(name, None, ":") if name and nul else None)
    return hits


def read_headed(lines: Sequence[str]) -> list[Hit | None]:
    """The name on a line of its own, then its numbered lines: ``rg --heading``, ``git grep --heading``."""
    hits: list[Hit | None] = []
    name = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        numbered = _BARE.match(line)
        if numbered:
            hits.append(Hit(name, int(numbered[1]), numbered[2]) if name else None)
        elif line not in SEPARATORS and _BARE.match(following):
            name = line
            hits.append(Hit(name, None, ""))
        else:
            hits.append(None if line in SEPARATORS else _binary(line))
    return hits


def read_numbered(lines: Sequence[str]) -> list[Hit | None]:
    """``name:12:text``, with ``name-13-text`` for context: ``grep -n``, ``rg -n``, ``--vimgrep``."""
    hits: list[Hit | None] = []
    name, last, parted = "", 0, False
    for at, line in enumerate(lines):
        hit = None
        if line in SEPARATORS:
            parted = True
        else:
            hit = _goes_on(line, name, last, parted) or _opens(lines, at) or _binary(line)
        if hit:
            name, last, parted = hit.name, hit.number or 0, False
        hits.append(hit)
    return hits


def read_unnumbered(lines: Sequence[str]) -> list[Hit | None]:
    """``name:text``, with ``name-text`` for context: ``grep -r``, ``grep -c``."""
    in_blocks = "--" in lines
    names = [found[1] if (found := _NAME.match(line)) else "" for line in lines]
    hits: list[Hit | None] = []
    name = ""
    for at, line in enumerate(lines):
        hit = None if line in SEPARATORS else _unnumbered(lines, names, at, name, in_blocks)
        name = hit.name if hit else name
        hits.append(hit)
    return hits


def is_likely(hit: Hit) -> bool:
    """Whether the name that was found looks like a file's."""
    bare = (hit.number is not None or not hit.sign) and not hit.name.isdigit() and is_name_like(hit.name)
    return bare or is_file_like(hit.name)


def _is_headed(sample: Sequence[str]) -> bool:
    numbered = [_BARE.match(line) is not None for line in sample]
    return bool(numbered) and not numbered[0] and True in numbered and 2 * sum(numbered) >= len(numbered)


def _goes_on(line: str, name: str, last: int, parted: bool) -> Hit | None:
    """The line as the next one of the same file; context must follow on the last line or a separator."""
    numbered = _NUMBER.match(line, len(name)) if name and line.startswith(name) else None
    if not numbered:
        return None
    number = int(numbered[2])
    follows = numbered[1] == ":" or number == last + 1 or (parted and number > last)
    return Hit(name, number, numbered[1]) if follows else None


def _opens(lines: Sequence[str], at: int) -> Hit | None:
    """The line as the first one of a file: context if the next line is that file's next, else a match.

    ``new.py-3-see old.py:7: x`` reads as a match in a file of a strange name; the line after it tells.
    """
    line, following = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
    for found in islice(_CONTEXT.finditer(line, 1, 4096), _LOOKAHEAD):
        name, number = line[: found.start()], int(found[2])
        after = _NUMBER.match(following, len(name)) if following.startswith(name) else None
        if after and int(after[2]) == number + 1:
            return Hit(name, number, found[1])
    match = _MATCH.match(line)
    return Hit(match[1], int(match[2]), ":") if match else None


def _unnumbered(
    lines: Sequence[str], names: Sequence[str], at: int, name: str, in_blocks: bool
) -> Hit | None:
    """The line in the file of the line before, or as the first of another, which may open with context."""
    line, new = lines[at], names[at]
    if new and new == name:
        return Hit(name, None, ":")
    if in_blocks or not is_file_like(new):
        if name and _is_context(line, name):
            return Hit(name, None, "-")
        for later in range(at + 1, min(at + 1 + _LOOKAHEAD, len(lines))):
            if lines[later] == "--" or (new and names[later] == new):
                break
            if names[later] and _is_context(line, names[later]):
                return Hit(names[later], None, "-")
    return _binary(line) or (Hit(new, None, ":") if new and not line.startswith(_COMPLAINT) else None)


def _is_context(line: str, name: str) -> bool:
    return line[len(name) : len(name) + 1] in {"-", "="} and line.startswith(name)


def _binary(line: str) -> Hit | None:
    """The line that says that a binary file matches."""
    found = _BINARY.fullmatch(line) if "inary file" in line else None
    return Hit(found[1] or found[2], None, ":") if found else None
