"""Commits: ``git log`` as it is, with ``--stat``, ``-p``, ``--graph`` or ``--oneline``.

An item is a commit: its head, message, stat and diff, and the lines of the graph beside it. A page has its
commits in the order of the log. When split, a commit's parts are its lines of ``--stat`` and the hunks of
its files, as in `diff`, under its head and message; a commit beside a graph has no parts. Text before the
first commit is the header, blank lines after the last are the footer. Colours are looked through and kept.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from ..items import Item
from ._text import read_lines, without_escapes
from .diff import DiffAnswer, parse_diff

_GRAPH = r"[*|\\/_. -]*"
_COMMIT = re.compile(rf"(?:{_GRAPH}\* )?commit [0-9a-f]{{7,64}}(?: .*)?\Z")
_SHORT = re.compile(rf"(?:{_GRAPH}\* )?([0-9a-f]{{7,40}}) \S")
_BLAME = re.compile(r"\^?[0-9a-f]{7,40} .*\(.*\d{4}-\d\d-\d\d .* \d+\) ")
_GRAPH_ONLY = re.compile(rf"{_GRAPH}\Z")


class LogAnswer(DiffAnswer):
    """Commits of a log."""

    form = "log"

    def split(self, item: Item) -> list[Item]:
        """The lines of ``--stat`` and the hunks of a commit; empty if it has fewer than two."""
        diff = parse_diff(item.text)
        parts = [part for file in diff.items for part in diff.split(file) or [file]]
        if "." in item.id or len(parts) < 2:
            return []
        head = (diff.header.removesuffix("\n"),) if diff.header else ()
        return [
            Item(
                f"{item.id}.{place}",
                part.text,
                metadata={**part.metadata, "within": head + part.metadata.get("within", ())},
            )
            for place, part in enumerate(parts, 1)
        ]

    def parting(self, before: Item | None, within: str) -> str:
        """A blank line before the head of a commit."""
        if before and _COMMIT.match(without_escapes([within.partition("\n")[0]])[0]):
            return self.group_gap
        return self.stat_gap if before and "stat" in before.metadata else ""

    def keeps_order(self, item: Item) -> bool:  # noqa: ARG002 -- all do
        """Always: a log is a history."""
        return True


def parse_log(text: str) -> LogAnswer:
    """The commits in ``text``; none if it is no log."""
    read = read_lines(text, "\n")
    plain = read.plain
    starts = _starts(plain)
    if not starts:
        return LogAnswer([], read.joined(0, len(read.lines)), "", "\n", read.terminated)
    ends = [_end(plain, start, end) for start, end in pairwise([*starts, len(plain)])]
    gaps = [read.joined(end, start) for end, start in zip(ends, starts[1:], strict=False)]
    gaps.insert(0, gaps[0] if gaps else "\n")
    items = [
        Item(str(place), "\n".join(read.lines[start:end]), metadata={"gap": gap})
        for place, (start, end, gap) in enumerate(zip(starts, ends, gaps, strict=True), 1)
    ]
    header, footer = read.joined(0, starts[0]), read.joined(ends[-1], len(plain))
    answer = LogAnswer(items, header, footer, "\n", read.terminated, stat_gap="\n")
    answer.group_gap = gaps[0]
    return answer


def looks_like_log(sample: str) -> bool:
    """Whether the first line opens a commit and there are more of them."""
    lines = read_lines(sample, "\n").plain
    first = next((line for line in lines if line.strip()), "")
    if _COMMIT.match(first):
        return len(_starts(lines)) > 1
    found = [_SHORT.match(line) for line in lines if not _GRAPH_ONLY.match(line)]
    names = [match[1] for match in found if match]
    return (
        len(names) > 1
        and 10 * len(names) >= 9 * len(found)
        and len({len(name) for name in names}) == 1
        and any(set(name) - set("0123456789") for name in names)
        and not _BLAME.match(first)
    )


def _starts(lines: Sequence[str]) -> list[int]:
    """Where each commit starts."""
    full = [at for at, line in enumerate(lines) if _COMMIT.match(line)]
    return full or [at for at, line in enumerate(lines) if _SHORT.match(line)]


def _end(lines: Sequence[str], start: int, end: int) -> int:
    """The end of a commit without the blank lines after it."""
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return end
