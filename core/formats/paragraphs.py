"""Plain text, by paragraph: runs of lines between blank ones, a fenced code block never cut.

An item is a paragraph, and a page has its paragraphs in the order of the text. The blank lines between
two are kept, those before the first are the header and those after the last the footer. When split, its
parts are its lines, a code block being one part.
"""

import itertools
from collections.abc import Iterator

from ..items import Item
from ._text import fences, read_lines
from .answer import LinesAnswer


class ParagraphsAnswer(LinesAnswer):
    """Paragraphs of plain text."""

    form = "paragraphs"

    def gap(self, before: Item, item: Item) -> str:
        """A blank line, or as many as the text had; none between lines of one paragraph."""
        parent, part, _ = item.id.partition(".")
        if part and before.id.partition(".")[:2] == (parent, part):
            return ""
        return super().gap(before, item)

    def keeps_order(self, item: Item) -> bool:  # noqa: ARG002 -- all do
        """Always: what is said builds on what was said before."""
        return True

    def before_note(self) -> str:
        """A blank line, so that the note is no part of the last paragraph."""
        return self.separator if self.items else ""

    def split(self, item: Item) -> list[Item]:
        """The lines of a paragraph; empty if there is only one, or one code block."""
        if "." in item.id:
            return []
        lines = item.text.split(self.separator)
        units = list(_units(lines))
        if len(units) < 2:
            return []
        return [
            Item(f"{item.id}.{place}", self.separator.join(lines[start:end]), metadata=item.metadata)
            for place, (start, end) in enumerate(units, 1)
        ]


def parse_paragraphs(text: str) -> ParagraphsAnswer:
    """The paragraphs of ``text``."""
    read = read_lines(text)
    runs = _paragraphs(read.lines)
    gaps = [read.joined(before[1], run[0]) for before, run in itertools.pairwise(runs)]
    items = [
        Item(str(place), read.separator.join(read.lines[start:end]), metadata={"gap": gap})
        for place, ((start, end), gap) in enumerate(zip(runs, [read.separator, *gaps], strict=False), 1)
    ]
    start, end = (runs[0][0], runs[-1][1]) if runs else (len(read.lines), len(read.lines))
    header, footer = read.joined(0, start), read.joined(end, len(read.lines))
    # An empty answer has no last line whose missing end could be kept.
    return ParagraphsAnswer(items, header, footer, read.separator, read.terminated or not text)


def _paragraphs(lines: list[str]) -> list[tuple[int, int]]:
    """Where each paragraph starts and ends."""
    runs: list[tuple[int, int]] = []
    open_run = False
    for start, end in _units(lines):
        blank = end == start + 1 and not lines[start].strip()
        if open_run and not blank:
            runs[-1] = (runs[-1][0], end)
        elif not blank:
            runs.append((start, end))
        open_run = not blank
    return runs


def _units(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Where each line or fenced code block starts and ends."""
    ends = fences(lines)
    at = 0
    while at < len(lines):
        end = ends[at] or at + 1
        yield at, end
        at = end
