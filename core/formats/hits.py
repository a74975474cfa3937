"""Lines that a search found: ``grep -rn``, ``rg -n``, ``git grep``; flat, with NUL or under headings.

An item is a file with all its lines, at the place of its first. Lines of context (``-A``, ``-B``, ``-C``)
belong to a file known from a match next to them; ``--`` and blank lines stay between the blocks of a
file, and stand between items as the answer used them. A line that belongs nowhere is part of the item
before it; those before the first item are the header, those after the last the footer. When split, an
item's parts are its blocks, or its single lines where they have no context.

The commit that ``git grep`` puts before every name is no part of the ``path``, if there are two files.
Not significant: files that the answer names again after others are put together. Names with a colon
cannot be told from text where lines have no numbers, nor names without numbers from headings.
"""

from collections.abc import Collection, Sequence
from typing import Any

from ..items import Item
from ._hit_lines import SEPARATORS, Hit, Reader, is_likely, read_headed, read_nul, reader_for
from ._names import lookup_path
from ._text import Lines, read_lines
from .answer import LinesAnswer


class HitsAnswer(LinesAnswer):
    """Hits by file.

    Args:
        reader: tells which file a line belongs to.
        others: arguments of `LinesAnswer`.
    """

    form = "hits"

    def __init__(self, reader: Reader, *others: Any) -> None:
        super().__init__(*others)
        self.reader = reader
        if reader is read_headed and self.items:
            self.group_gap = self.items[0].metadata["gap"]

    def split(self, item: Item) -> list[Item]:
        """The blocks or lines of a file; empty if there is only one."""
        lines = item.text.split(self.separator)
        under_nul = self.reader is read_nul and any(
            "\0" not in line for line in lines if line not in SEPARATORS
        )
        if "." in item.id or under_nul:  # a part would lose the name, which only the first line has
            return []
        headed = self.reader is read_headed
        blocks = _parts(lines, self.reader(lines))
        if len(blocks) < 2:
            return []
        own = f"--{self.separator}" if "--" in lines else ""
        shared = {**item.metadata} | ({"within": (lines[0],), "gap": own} if headed else {})
        return [
            Item(
                f"{item.id}.{place}",
                self.separator.join(line for line, _ in block),
                metadata=shared | _first_line([hit for _, hit in block]),
            )
            for place, block in enumerate(blocks, 1)
        ]


def parse_hits(text: str) -> HitsAnswer:
    """The files with hits in ``text``; none if it is no search's answer."""
    read = read_lines(text)
    reader = reader_for(read.lines)
    hits = reader(read.lines)
    known = [place for place, hit in enumerate(hits) if hit]
    start, end = (known[0], known[-1] + 1) if known else (len(hits), len(hits))
    items = _items(read, hits, start, end)
    header, footer = read.joined(0, start), read.joined(end, len(read.lines))
    return HitsAnswer(reader, items, header, footer, read.separator, read.terminated)


def looks_like_hits(sample: str) -> bool:
    """Whether four of five lines belong to something that looks like a file's name."""
    lines = read_lines(sample).lines
    if sample.endswith("\0") or sample.count("\0") > len(lines):  # names, each with a NUL
        return False
    hits = reader_for(lines)(lines)
    candidates = [hit for line, hit in zip(lines, hits, strict=True) if line not in SEPARATORS]
    revision = len(_revision({hit.name for hit in candidates if hit}))
    likely = sum(is_likely(hit._replace(name=hit.name[revision:])) for hit in candidates if hit)
    return 0 < len(candidates) * 4 <= likely * 5


def _items(read: Lines, hits: Sequence[Hit | None], start: int, end: int) -> list[Item]:
    files: dict[str, list[int]] = {}  # by name, the places of its lines and of the separators between them
    gaps: dict[str, str] = {}
    name = ""
    pending: list[int] = []
    for place in range(start, end):
        hit = hits[place]
        if hit is None and read.lines[place] in SEPARATORS:
            pending.append(place)
            continue
        name = hit.name if hit else name
        if name in files:
            files[name] += pending
        else:
            files[name] = []
            gaps[name] = "".join(f"{read.lines[line]}{read.separator}" for line in pending)
        files[name].append(place)
        pending = []
    if files:
        first, *others = gaps
        gaps[first] = gaps[others[0]] if others else _only_gap(read, files[first])
    revision = _revision(files)
    return [
        Item(
            str(number),
            read.separator.join(read.lines[place] for place in places),
            metadata={"path": lookup_path(name[len(revision) :]), "gap": gaps[name]}
            | _first_line([hits[p] for p in places]),
        )
        for number, (name, places) in enumerate(files.items(), 1)
    ]


def _revision(names: Collection[str]) -> str:
    """What `git grep` puts before all names when it searches a commit: ``HEAD:``."""
    first = next(iter(names), "")
    revision = first[: first.find(":") + 1]
    possible = len(names) > 1 and len(revision) > 2 and "/" not in revision  # one letter is a drive
    return revision if possible and all(name.startswith(revision) for name in names) else ""


def _only_gap(read: Lines, places: Sequence[int]) -> str:
    return f"--{read.separator}" if any(read.lines[place] == "--" for place in places) else ""


def _first_line(hits: Sequence[Hit | None]) -> dict[str, int]:
    """Metadata: the number of the first match."""
    numbers = (hit.number for hit in hits if hit and hit.sign == ":" and hit.number is not None)
    first = next(numbers, None)
    return {} if first is None else {"line": first}


def _parts(lines: Sequence[str], hits: Sequence[Hit | None]) -> list[list[tuple[str, Hit | None]]]:
    """The blocks between separators, those without context line by line; headings are left out."""
    blocks: list[list[tuple[str, Hit | None]]] = [[]]
    for line, hit in zip(lines, hits, strict=True):
        if hit is None and line in SEPARATORS:
            blocks.append([])
        elif hit is None or hit.sign:
            blocks[-1].append((line, hit))
    parts: list[list[tuple[str, Hit | None]]] = []
    for block in filter(None, blocks):
        has_context = any(hit and hit.sign in "-=" for _, hit in block)
        for place, (line, hit) in enumerate(block):
            if place and (has_context or hit is None):
                parts[-1].append((line, hit))
            else:
                parts.append([(line, hit)])
    return parts
