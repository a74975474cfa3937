"""Which functions and classes a change touches, in Python of any version, also where it does not compile.

Lines and their indentation tell, so that Python 2 and half-finished code are read as well, and a thousand
lines take about a millisecond.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

# Strings of several lines and comments; other strings are matched so that what is in them is passed over.
_LITERAL = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*',
    re.DOTALL,
)
_HEADER = re.compile(r"(?:async\s+)?def\s+(\w+)|class\s+(\w+)|c(?:p?def)\s+(?:class\s+|[^(=]*?)?(\w+)\s*[(:]")
_INSIDE = "\0"  # stands for a line of a string that began before it


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class.

    Args:
        name: with those around it, such as ``Cache.get``.
        start: its first line, from 1, decorators included.
        end: the line after its last.
        indent: columns before its header.
    """

    name: str
    start: int
    end: int
    indent: int


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place of a change, in line numbers of the file before it.

    Args:
        start: the first line that is removed; without any, the line before which something is added.
        end: the line after the last one removed; ``start`` where nothing is.
        indent: columns before the first line that is added, where nothing is removed.
    """

    start: int
    end: int
    indent: int = 0


def definitions(text: str) -> list[Definition]:
    r"""The functions and classes of a Python or Cython file, in order of their first lines.

    Example:
        >>> [(d.name, d.start, d.end) for d in definitions("class A:\n  @property\n  def b(self): pass\n")]
        [('A', 1, 4), ('A.b', 2, 4)]
    """
    found: list[Definition] = []
    around: list[int] = []  # places in `found` of what is open, outermost first
    decorated = column = last = 0  # line and indentation of the first decorator that waits for its definition
    for number, line in enumerate(_LITERAL.sub(_blank, text).split("\n"), 1):
        code = line.lstrip()
        if not code:
            continue
        if code[0] in f")]}}{_INSIDE}":  # goes on with what was begun
            last = number
            continue
        indent = _columns(line)
        while around and found[around[-1]].indent >= indent:
            _close(found, around.pop(), last)
        last = number
        if decorated and indent > column:  # within a decorator's brackets
            continue
        if code[0] == "@":
            decorated, column = decorated or number, indent
            continue
        if header := _HEADER.match(code):
            name = header[1] or header[2] or header[3]
            outer = f"{found[around[-1]].name}." if around else ""
            found.append(Definition(outer + name, decorated or number, 0, indent))
            around.append(len(found) - 1)
        decorated = 0
    while around:
        _close(found, around.pop(), last)
    return found


def touched(text: str, hunks: Iterable[Hunk]) -> list[Definition]:
    """The innermost definitions that the hunks change, in order of their first lines, each once."""
    among = definitions(text)
    lines = text.split("\n")
    owners = _owners(among, len(lines))
    places: set[int] = set()
    for hunk in hunks:
        if hunk.start == hunk.end:
            places.add(_around(among, lines, hunk))
        else:
            span = range(hunk.start, min(hunk.end, len(lines) + 1))
            places.update(owners[number] for number in span if lines[number - 1].strip())
    return [among[place] for place in sorted(places - {-1})]


def _owners(among: Sequence[Definition], count: int) -> list[int]:
    """Of each line, from 1, the place of the innermost definition; -1 for none."""
    owners = [-1] * (count + 2)
    for place, one in enumerate(among):  # an inner definition comes after the one around it
        owners[one.start : one.end] = [place] * (one.end - one.start)
    return owners


def _around(among: Sequence[Definition], lines: Sequence[str], hunk: Hunk) -> int:
    """The place of the innermost definition into which lines of that indentation are added."""
    before = min(hunk.start - 1, len(lines))
    while before > 0 and not lines[before - 1].strip():
        before -= 1
    inside = (
        place for place, one in enumerate(among) if one.start <= before < one.end and one.indent < hunk.indent
    )
    return max(inside, default=-1)


def _close(found: list[Definition], place: int, last: int) -> None:
    found[place] = replace(found[place], end=last + 1)


def _blank(literal: re.Match[str]) -> str:
    text = literal[0]
    if text[0] == "#":
        return ""
    return f"''{f'{chr(10)}{_INSIDE}' * text.count(chr(10))}"


def _columns(line: str) -> int:
    before = line[: len(line) - len(line.lstrip())]
    return len(before.expandtabs(8)) if "\t" in before else len(before)
