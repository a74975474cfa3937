"""Unified diffs: ``git diff``, ``git show``, ``git format-patch``, ``diff -u``; `log` reads ``git log -p``.

An item is a file, or, when split, one hunk under its file's header. Hunks end where the numbers in
their ``@@`` line say, so that a removed line ``-- x`` is not taken for a header. Text before the first
file is the header if it is the only such text; where several commits follow one another, each message
stands above its own files (``within``) and is delivered with one of them, and so does the signature that
ends its patch. Text after the last file is the footer. Of a header with ``--stat``, each line is an item of
its own, put before the files. Colours are looked through and kept.

Every page applies with ``git apply`` if the answer does: hunks of a file keep their order, whatever order
is asked for. Their line numbers are kept as they were, true of the new file; where a hunk's context
occurs several times, a page without the hunks before it may apply at another of these places. A line's
end that is missing after the last line is put there, for a patch without it is corrupt.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..items import Item
from ._columns import STAT, STAT_SUM, stat_path
from ._names import lookup_path
from ._text import Lines, read_lines, without_escapes
from .answer import LinesAnswer

_HUNK = re.compile(r"(@@+) ((?:-\d+(?:,\d+)? )+)\+(\d+)(?:,(\d+))? @@")
_COUNT = re.compile(r"-\d+(?:,(\d+))? ")
_HEADER = re.compile(
    r"--- |\+\+\+ |index |mode |(?:old|new|deleted file|new file) mode |"
    r"(?:copy|rename|(?:dis)?similarity) |Binary files "
)
_BINARY = re.compile(r"(?:literal|delta) \d+\r?")
_MERGE = re.compile(r"diff --(?:cc|combined) ")
_PREFIXED = re.compile(r'"?([abciow12])/')
_SAMPLE = re.compile(r"^(?:diff --(?:git|cc|combined) \S|--- [^\n]*\n\+\+\+ [^\n]*\n@@ -\d)", re.MULTILINE)


class DiffAnswer(LinesAnswer):
    """Files of a diff.

    Args:
        arguments: as of `LinesAnswer`.
        ends: what ends the patch of a commit, by its message.
        stat_gap: what parts the lines of ``--stat`` from the files.
    """

    form = "diff"

    def __init__(self, *arguments: Any, ends: Mapping[str, str] | None = None, stat_gap: str = "") -> None:
        super().__init__(*arguments)
        self.ends, self.stat_gap = ends or {}, stat_gap

    def piece(self, item: Item) -> str:
        """The item with everything it stands within, and what parts lines of ``--stat`` from files."""
        return super().piece(item) + (self.stat_gap if _is_stat(item) else "")

    def gap(self, before: Item, item: Item) -> str:
        """What parts the item from the one before it on the page."""
        return self.stat_gap if _is_stat(before) and not _is_stat(item) else super().gap(before, item)

    def parting(self, before: Item | None, within: str) -> str:
        """The same for a `within` text."""
        return self.stat_gap if before and _is_stat(before) else super().parting(before, within)

    def ordered(self, items: Sequence[Item]) -> Sequence[Item]:
        """Lines of ``--stat`` first, in their order; parts of a file together, in theirs."""
        return sorted(super().ordered(items), key=lambda item: not _is_stat(item))

    def keeps_order(self, item: Item) -> bool:
        """Whether it is a line of ``--stat``, of which the last is the sum."""
        return _is_stat(item)

    def below(self, within: str) -> str:
        """The signature of the patch with this message."""
        return self.ends.get(within, "")

    def split(self, item: Item) -> list[Item]:
        """The hunks of a file; empty if there is only one."""
        if "." in item.id:
            return []
        lines = item.text.split("\n")
        plain = without_escapes(lines)
        starts, at = [], 0
        while at < len(lines):
            end = _hunk_end(plain, at)
            if end:
                starts.append(at)
            at = end or at + 1
        if len(starts) < 2:
            return []
        within = (*item.metadata.get("within", ()), "\n".join(lines[: starts[0]]))
        return [
            Item(
                f"{item.id}.{place}",
                "\n".join(lines[start:end]),
                metadata={**item.metadata, "within": within} | _line(plain[start]),
            )
            for place, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True), 1)
        ]


class _File(NamedTuple):
    """A file's lines in the diff: where its header starts, its first hunk, and the line after it."""

    start: int
    hunks: int
    end: int


def parse_diff(text: str) -> DiffAnswer:
    """The files in ``text``; none if it is no diff."""
    read = read_lines(text, "\n")
    plain = read.plain
    files = _files(plain)
    if not files:
        return DiffAnswer([], read.joined(0, len(read.lines)))
    ends = [0, *(file.end for file in files)]
    starts = [*(file.start for file in files), len(read.lines)]
    signed = [0, *(_signature_end(plain, *span) for span in zip(ends[1:], starts[1:], strict=True))]
    if sum(1 for span in zip(signed, starts[:-1], strict=False) if _is_text(plain, *span)) < 2:
        signed = ends
    header, stat_gap = "", ""
    items: list[Item] = []
    if signed is ends and _is_text(plain, 0, starts[0]):
        header, items, stat_gap = _header(read, plain, starts[0])
    message = ""
    signatures: dict[str, str] = {}
    for place, file in enumerate(files):
        # What is above the first file may be in the header.
        start = file.start if not place and (header or items) else signed[place]
        metadata = _known(plain, file)
        if signed[place] > ends[place]:
            signatures[message] = read.joined(ends[place], signed[place])
        if _is_text(plain, start, file.start):
            message = "\n".join(read.lines[start : file.start])
        else:
            metadata["gap"] = read.joined(start, file.start)
        if message:
            metadata["within"] = (message,)
        text = "\n".join(read.lines[file.start : file.end])
        items.append(Item(str(len(items) + 1), text, metadata=metadata))
    if signed[-1] > ends[-1]:
        signatures[message] = read.joined(ends[-1], signed[-1])
    return DiffAnswer(
        items, header, read.joined(signed[-1], len(read.lines)), ends=signatures, stat_gap=stat_gap
    )


def looks_like_diff(sample: str) -> bool:
    """Whether a file's header starts a line outside of fenced code."""
    sample = "\n".join(without_escapes(sample.split("\n")))
    found = _SAMPLE.search(sample)
    return found is not None and f"\n{sample[: found.start()]}".count("\n```") % 2 == 0


def _is_stat(item: Item) -> bool:
    return "stat" in item.metadata


def _is_text(lines: Sequence[str], start: int, end: int) -> bool:
    return any(line.strip() for line in lines[start:end])


def _signature_end(lines: Sequence[str], start: int, end: int) -> int:
    """The position after the signature that ends a patch and the blank lines after it; start if none does."""
    if end - start < 2 or lines[start].rstrip("\r") != "-- ":
        return start
    start += 2
    while start < end and not lines[start].strip():
        start += 1
    return start


def _header(read: Lines, lines: Sequence[str], end: int) -> tuple[str, list[Item], str]:
    """The text above the first file: up to the lines of ``--stat``, these as items, and what follows them."""
    start = next((at for at in range(end) if STAT.match(lines[at])), end)
    after = start
    while after < end and (STAT.match(lines[after]) or STAT_SUM.match(lines[after])):
        after += 1
    if _is_text(lines, after, end):
        return read.joined(0, end), [], ""
    items = [
        Item(str(place), read.lines[at], metadata={"stat": True} | stat_path(lines[at]))
        for place, at in enumerate(range(start, after), 1)
    ]
    return read.joined(0, start), items, read.joined(after, end) if items else ""


def _files(lines: list[str]) -> list[_File]:
    files: list[_File] = []
    at = 0
    while at < len(lines):
        file = _file(lines, at)
        if file:
            files.append(file)
        at = file.end if file else at + 1
    return files


def _file(lines: list[str], start: int) -> _File | None:
    """The file whose lines begin here, if one does."""
    line, at = lines[start], start + 1
    if line.startswith("diff -"):
        while at < len(lines) and _HEADER.match(lines[at]):
            at += 1
        if at == start + 1:
            return None
    elif line.startswith("--- "):
        if not (at < len(lines) and lines[at].startswith("+++ ") and _hunk_end(lines, at + 1)):
            return None
        at += 1
    else:
        return _File(start, at, at) if _alone(line) else None
    hunks = at
    if at < len(lines) and lines[at].startswith("GIT binary patch"):
        return _File(start, at, _binary_end(lines, at + 1))
    while end := _hunk_end(lines, at):
        at = end
    return _File(start, hunks, at)


def _hunk_end(lines: list[str], at: int) -> int:
    """The position after the hunk that begins at ``at``; 0 if none does."""
    head = _HUNK.match(lines[at]) if at < len(lines) else None
    if not head:
        return 0
    old, new = [int(count or 1) for count in _COUNT.findall(head[2])], int(head[4] or 1)
    at = _plain_end(lines, at + 1, old[0], new) if len(old) == 1 else _combined_end(lines, at + 1, old, new)
    while at < len(lines) and lines[at].startswith("\\ "):
        at += 1
    return at


def _plain_end(lines: list[str], at: int, old: int, new: int) -> int:
    while (old > 0 or new > 0) and at < len(lines):
        sign = lines[at][:1]
        if sign == "-":
            old -= 1
        elif sign == "+":
            new -= 1
        elif sign in {" ", "", "\r"}:  # mail programs strip the space of an empty line
            old, new = old - 1, new - 1
        elif sign != "\\":
            break
        at += 1
    return at


def _combined_end(lines: list[str], at: int, old: list[int], new: int) -> int:
    """As `_plain_end` for a merge: a column of signs for each parent."""
    while (new > 0 or any(count > 0 for count in old)) and at < len(lines):
        signs = lines[at][: len(old)].ljust(len(old))
        if not set(signs) <= {" ", "-", "+"} and not signs.startswith(("\\", "\r")):
            break
        if not signs.startswith("\\"):
            removed = "-" in signs
            old = [
                count - (sign == ("-" if removed else " ")) for count, sign in zip(old, signs, strict=True)
            ]
            new -= not removed
        at += 1
    return at


def _binary_end(lines: list[str], at: int) -> int:
    """The position after the blocks of a binary patch, each of which ends with a blank line."""
    while at < len(lines) and _BINARY.fullmatch(lines[at]):
        while at < len(lines) and lines[at].strip():
            at += 1
        at = min(at + 1, len(lines))
    return at


def _known(lines: list[str], file: _File) -> dict[str, Any]:
    """Metadata of a file: its path, the new one where it was renamed, and its first hunk's line."""
    path = _path(lines[file.start : file.hunks])
    line = _line(lines[file.hunks]) if file.hunks < file.end else {}
    return ({"path": path} if path else {}) | line


def _line(hunk: str) -> dict[str, int]:
    head = _HUNK.match(hunk)
    return {"line": int(head[3])} if head and int(head[3]) else {}


def _path(header: list[str]) -> str:
    alone = _alone(header[0])
    if alone:
        return lookup_path(alone)
    merge = _MERGE.match(header[0])
    if merge:
        return lookup_path(header[0][merge.end() :].rstrip("\r"))
    named: dict[str, str] = {}
    for line in header[1:] if header[0].startswith("diff ") else header:
        for key in ("--- ", "+++ ", "rename to ", "copy to "):
            if line.startswith(key):
                named[key] = line.removeprefix(key).partition("\t")[0].rstrip("\r")
    old, new = _git_names(header[0]) or (named.get("--- ", ""), named.get("+++ ", ""))
    prefixed = _prefix(old) != _prefix(new) or "/dev/null" in {old, new}
    for key in ("rename to ", "copy to "):
        if key in named:
            return lookup_path(named[key])
    name = next((named[key] for key in ("+++ ", "--- ") if named.get(key, "/dev/null") != "/dev/null"), new)
    path = lookup_path(name)
    return path[2:] if prefixed and _prefix(name) else path


def _alone(line: str) -> str:
    """The path of a file that `diff -r` tells of in a single line; empty for any other line."""
    line = line.rstrip("\r")
    if line.startswith("Only in ") and ": " in line:
        folder, _, name = line.removeprefix("Only in ").partition(": ")
        return f"{folder}/{name}"
    if line.startswith(("Files ", "Binary files ")) and line.endswith(" differ"):
        return line.removesuffix(" differ").rpartition(" and ")[2]
    return ""


def _prefix(name: str) -> str:
    found = _PREFIXED.match(name)
    return found[1] if found else ""


def _git_names(line: str) -> tuple[str, str] | None:
    """Both names of a ``diff --git`` line that says the same name twice."""
    if not line.startswith("diff --git "):
        return None
    names = line.removeprefix("diff --git ").rstrip("\r")
    half = len(names) // 2
    old, new = names[:half], names[half + 1 :]
    return (old, new) if old.lstrip('"')[2:] == new.lstrip('"')[2:] or old == new else None
