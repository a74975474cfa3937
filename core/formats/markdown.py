"""Markdown tables and lists.

An item is a row of a pipe table, or an item of a list at its top level with everything that belongs to
it: continued lines, nested lists, code. It stands ``within`` the sections that it is in, each a heading
with its text, then the text right above its table or list, then the table's head. Sections around all
items are the header, text after the last item is the footer. Rows and list items in no section come
first on a page, so that they do not end up under another's heading. List items keep their order, for
they may be steps; rows are a table's and come in the order asked for.

Not significant: tables or lists in the same section under the very same text are put together, and a
blank line is put between a table or list and text that touches its end. Headings underlined with ``===``
are text.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ..items import Item
from ._text import Lines, fences, read_lines
from .answer import LinesAnswer

_MARKER = re.compile(r"( {0,3})(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|\Z)")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\Z")
_FENCE = re.compile(r" *(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|\Z)")
_TEXT = 7  # below any heading
_ENDS_LIST = ("#", "```", "~~~", ">", "|", "<")


class MarkdownAnswer(LinesAnswer):
    """Rows of tables and items of lists."""

    form = "markdown"
    ungrouped_first = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.group_gap = self.separator

    def keeps_order(self, item: Item) -> bool:
        """Whether it is a list item."""
        return _marker(item.text.partition(self.separator)[0]) is not None

    def before_note(self) -> str:
        """A blank line, so that the note is neither a row nor a part of the last item."""
        return self.separator


class _Section(NamedTuple):
    """Lines that stand above tables and lists: a heading with its text, or text alone.

    Attributes:
        level: of the heading; `_TEXT` for text alone.
        start: its first line.
        end: the line after it.
    """

    level: int
    start: int
    end: int


class _Block(NamedTuple):
    """A table or list: where it starts, where its items start and end, and where the next text starts."""

    start: int
    runs: list[tuple[int, int]]
    end: int


def parse_markdown(text: str) -> MarkdownAnswer:
    """The rows and list items in ``text``; none if it has neither."""
    read = read_lines(text)
    fenced = fences(read.lines)
    blocks = list(_blocks(read.lines, fenced))
    ends = [0, *(block.end for block in blocks)]
    sections: list[list[_Section]] = [[]]
    for end, block in zip(ends, blocks, strict=False):
        sections.append(_entered(sections[-1], _pieces(read.lines, fenced, end, block.start)))
    around_all = _common(sections[1:])
    items: list[Item] = []
    for block, above in zip(blocks, sections[1:], strict=True):
        items += _items(read, block, above[len(around_all) :], len(items))
    header = "".join(read.joined(section.start, section.end) for section in around_all)
    footer = read.joined(ends[-1], len(read.lines))
    if blocks and footer and read.lines[ends[-1]].strip():
        footer = read.separator + footer
    return MarkdownAnswer(items, header, footer, read.separator, read.terminated)


def looks_like_markdown(sample: str) -> bool:
    """Whether there is a table, or half of the lines but headings belong to a list of several items."""
    lines = read_lines(sample).lines
    blocks = list(_blocks(lines, fences(lines)))
    if any(block.runs and block.runs[0][0] > block.start for block in blocks):
        return True
    listed = sum(end - start for block in blocks for start, end in block.runs)
    written = sum(1 for line in lines if line.strip() and not _HEADING.match(line))
    return sum(len(block.runs) for block in blocks) > 1 and 2 * listed >= written


def _items(read: Lines, block: _Block, sections: Sequence[_Section], count: int) -> Iterator[Item]:
    within = tuple(read.separator.join(read.lines[section.start : section.end]) for section in sections)
    if block.start < block.runs[0][0]:
        within += (read.separator.join(read.lines[block.start : block.runs[0][0]]),)
    metadata: dict[str, Any] = {"within": within} if within else {}
    gaps = [read.joined(before[1], run[0]) for before, run in pairwise(block.runs)] or [""]
    for place, (start, end) in enumerate(block.runs):
        text = read.separator.join(read.lines[start:end])
        yield Item(str(count + place + 1), text, metadata=metadata | {"gap": gaps[max(0, place - 1)]})


def _pieces(lines: list[str], fenced: list[int], start: int, end: int) -> list[_Section]:
    """The text from a block's end to the next block, cut before each heading."""
    headings = [at for at in range(start, end) if not fenced[at] and _HEADING.match(lines[at])]
    cuts = [start, *headings, end]
    levels = [_TEXT, *(len(lines[at]) - len(lines[at].lstrip("#")) for at in headings)]
    pieces = [_Section(level, *cut) for level, cut in zip(levels, pairwise(cuts), strict=True)]
    return pieces[1:] if headings and pieces[0].start == pieces[0].end else pieces


def _entered(sections: Sequence[_Section], pieces: Sequence[_Section]) -> list[_Section]:
    """The sections that a block is in, from those of the block before and the pieces between the two.

    A section that closes without a block of its own stays with the section after it, so that it is not lost.
    """
    stack = [section for section in sections if section.level < _TEXT]
    used = len(stack)
    for piece in pieces:
        start = piece.start
        while stack and stack[-1].level >= piece.level:
            closed = stack.pop()
            start = closed.start if len(stack) >= used else start
            used = min(used, len(stack))
        stack.append(piece._replace(start=start))
    if not sections and stack and stack[0].start == stack[0].end:
        stack.pop(0)
    return stack


def _common(paths: Sequence[Sequence[_Section]]) -> list[_Section]:
    """The sections that all these begin with."""
    common: list[_Section] = []
    for level in zip(*paths, strict=False):
        if len(set(level)) > 1:
            break
        common.append(level[0])
    return common


def _blocks(lines: list[str], fenced: list[int]) -> Iterator[_Block]:
    at = 0
    while at < len(lines):
        marker = _marker(lines[at])
        block = None
        if fenced[at] and not marker:
            at = fenced[at]
            continue
        if marker:
            block = _list(lines, at, fenced)
        elif _is_head(lines, at):
            block = _table(lines, at)
        if block and block.runs:
            yield block
        at = block.end if block else at + 1


def _is_head(lines: list[str], at: int) -> bool:
    """Whether a table starts here: a row and under it the line of dashes."""
    if at + 1 >= len(lines) or "|" not in lines[at].replace("\\|", ""):
        return False
    dashes = lines[at + 1].strip()
    return "|" in dashes and "-" in dashes and set(dashes) <= set("|:- \t")


def _table(lines: list[str], start: int) -> _Block:
    at = start + 2
    while at < len(lines) and "|" in lines[at] and not _marker(lines[at]) and not _FENCE.match(lines[at]):
        at += 1
    return _Block(start, [(row, row + 1) for row in range(start + 2, at)], at)


def _list(lines: list[str], start: int, fenced: list[int]) -> _Block:
    runs: list[tuple[int, int]] = []
    at = start
    indent = 0
    while at < len(lines):
        marker = _marker(lines[at])
        if not marker or (runs and len(marker[1]) > indent):
            break
        indent = len(marker[1])
        end = _item_end(lines, at, indent, fenced)
        runs.append((at, end))
        at = end
        while at < len(lines) and not lines[at].strip():
            at += 1
    return _Block(start, runs, runs[-1][1])


def _item_end(lines: list[str], start: int, indent: int, fenced: list[int]) -> int:
    """The position after a list item's last line that is indented, fenced, or goes on without a break."""
    end = at = fenced[start] or start + 1
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        deeper = len(line) - len(line.lstrip(" ")) > indent or line.startswith("\t")
        goes_on = (
            at == end and not line.startswith(_ENDS_LIST) and not _marker(line) and not _RULE.match(line)
        )
        if not deeper and not goes_on:
            break
        end = at = fenced[at] or at + 1
    return end


def _marker(line: str) -> re.Match[str] | None:
    """The bullet or number that a list item starts with."""
    marker = _MARKER.match(line)
    return None if marker and _RULE.match(line) else marker
