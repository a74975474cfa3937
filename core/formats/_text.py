"""Lines, the note at their end, escapes of a terminal, and fenced code blocks."""

import re
from typing import NamedTuple

from .note import NOTE

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


class Lines(NamedTuple):
    r"""The lines of a text, without the note.

    Attributes:
        lines: without their separators.
        separator: ``"\r\n"`` where every line ends so, else ``"\n"``.
        terminated: whether the last line had its separator.
    """

    lines: list[str]
    separator: str
    terminated: bool

    @property
    def plain(self) -> list[str]:
        """The lines as a person sees them, without a terminal's escapes for colours and links."""
        return without_escapes(self.lines)

    def joined(self, start: int, end: int) -> str:
        """The lines from ``start`` to before ``end``, each with its separator."""
        # Most of what stands between two items is nothing, and an answer may have many thousands of them.
        return "".join([f"{line}{self.separator}" for line in self.lines[start:end]]) if start < end else ""


def read_lines(text: str, separator: str | None = None) -> Lines:
    """The lines of ``text`` without the note; at ``separator`` where one is given."""
    if separator is None:
        windows = "\r\n" in text and text.count("\r\n") == text.count("\n")
        separator = "\r\n" if windows else "\n"
    terminated = text.endswith(separator)
    lines = text.split(separator)
    if terminated:
        lines.pop()
    if lines and NOTE.fullmatch(lines[-1]):
        lines.pop()
    return Lines(lines if text else [], separator, terminated)


def without_escapes(lines: list[str]) -> list[str]:
    """The lines without a terminal's escapes; the very list if there are none."""
    if not any("\x1b" in line for line in lines):
        return lines
    return [_ESCAPE.sub("", line) for line in lines]


def fences(lines: list[str]) -> list[int]:
    """For each line the position after its fenced code block, 0 outside of one.

    A fence that is never closed fences nothing: an answer cut short would else be one block to its end.
    """
    ends = [0] * len(lines)
    unclosed: dict[str, int] = {}  # by character, the length from which on no closing fence follows
    at = 0
    while at < len(lines):
        mark = _fence(lines[at])
        end = 0
        if mark and len(mark) < unclosed.get(mark[0], len(mark) + 1):
            end = _closing(lines, at + 1, mark)
            if not end:
                unclosed[mark[0]] = len(mark)
        if end:
            ends[at:end] = [end] * (end - at)
        at = end or at + 1
    return ends


def _fence(line: str) -> str:
    """The run of backticks or tildes that opens a code block on this line."""
    if "```" not in line and "~~~" not in line:
        return ""
    text = line.lstrip()
    if not text.startswith(("```", "~~~")):
        text = _after_marker(text)
    if not text.startswith(("```", "~~~")):
        return ""
    info = text.lstrip(text[0])
    mark = text[: len(text) - len(info)]
    return "" if mark[0] == "`" and "`" in info else mark


def _after_marker(text: str) -> str:
    """The text of a list item whose first line may open a fence."""
    marker, _, rest = text[:12].partition(" ")
    is_marker = marker in {"-", "*", "+"} or (marker[:-1].isdigit() and marker[-1:] in {".", ")"})
    return text[len(marker) :].lstrip() if is_marker and rest else text


def _closing(lines: list[str], start: int, mark: str) -> int:
    for at in range(start, len(lines)):
        text = lines[at].strip()
        if text.startswith(mark) and not text.strip(mark[0]):
            return at + 1
    return 0
