"""Lines that a search found: ``grep -rn``, ``rg -n``, ``git grep``; flat, with NUL or under headings.

An item is a file with all its lines, at the place of its first. Lines of context (``-A``, ``-B``, ``-C``)
belong to a file known from a match next to them; ``--`` and blank lines stay between the blocks of a
file, and stand between items as the answer used them. A line that belongs nowhere is part of the item
before it; those before the first item are the header, those after the last the footer. When split, an
item's parts are its matches, each with the lines of context that follow it and the first of a block with
those before it too. Colours are looked through and kept.

The commit that ``git grep`` puts before every name is no part of the ``path``, if there are two files.
Not significant: files that the answer names again after others are put together. Names with a colon
cannot be told from text where lines have no numbers, nor names without numbers from headings.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from ..items import Item
from ._hit_lines import SEPARATORS, Hit, LineParser, is_likely, line_parser, read_headed, read_nul
from ._names import lookup_path
from ._text import Lines, read_lines, without_escapes
from .answer import LARGEST_HIT, LinesAnswer


class HitsAnswer(LinesAnswer):
    """Hits by file.

    Args:
        parser: tells which file a line belongs to.
        others: arguments of `LinesAnswer`.
    """

    form = "hits"
    largest = LARGEST_HIT

    def __init__(self, parser: LineParser, *others: Any) -> None:
        super().__init__(*others)
        self.parser = parser
        if parser is read_headed and self.items:
            self.group_gap = self.items[0].metadata["gap"]

    def split(self, item: Item) -> list[Item]:
        """The blocks or lines of a file; empty if there is only one."""
        lines = item.text.split(self.separator)
        plain = without_escapes(lines)
        under_nul = self.parser is read_nul and any(
            "\0" not in line for line in plain if line not in SEPARATORS
        )
        if "." in item.id or under_nul:  # a part would lose the name, which only the first line has
            return []
        headed = self.parser is read_headed
        parts = _parts(plain, self.parser(plain))
        if len(parts) < 2:
            return []
        own = f"{lines[plain.index('--')]}{self.separator}" if "--" in plain else ""
        shared = {**item.metadata} | ({"within": (lines[0],), "gap": own} if headed else {})
        return [
            Item(
                f"{item.id}.{place}",
                self.separator.join(lines[part.start : part.end]),
                metadata=shared | {"touches": part.touches} | _first_line(part.hits),
            )
            for place, part in enumerate(parts, 1)
        ]

    def gap(self, before: Item, item: Item) -> str:
        """None where the item goes on in the block of the part before it."""
        name, _, part = item.id.partition(".")
        if item.metadata.get("touches") and before.id == f"{name}.{int(part) - 1}":
            return ""
        return super().gap(before, item)


def parse_hits(text: str) -> HitsAnswer:
    """The files with hits in ``text``; none if it is no search's answer."""
    read = read_lines(text)
    plain = read.plain
    parser = line_parser(plain)
    hits = parser(plain)
    known = [place for place, hit in enumerate(hits) if hit]
    start, end = (known[0], known[-1] + 1) if known else (len(hits), len(hits))
    items = _items(read, plain, hits, start, end)
    header, footer = read.joined(0, start), read.joined(end, len(read.lines))
    return HitsAnswer(parser, items, header, footer, read.separator, read.terminated)


def looks_like_hits(sample: str) -> bool:
    """Whether four of five lines belong to something that looks like a file's name."""
    lines = read_lines(sample).plain
    if sample.endswith("\0") or sample.count("\0") > len(lines):  # names, each with a NUL
        return False
    hits = line_parser(lines)(lines)
    written = [hit for line, hit in zip(lines, hits, strict=True) if line not in SEPARATORS]
    revision = len(_revision({hit.name for hit in written if hit}))
    likely = sum(is_likely(hit._replace(name=hit.name[revision:])) for hit in written if hit)
    return 0 < len(written) * 4 <= likely * 5


def _items(read: Lines, plain: Sequence[str], hits: Sequence[Hit | None], start: int, end: int) -> list[Item]:
    files: dict[str, list[int]] = {}  # by name, the places of its lines and of the separators between them
    gaps: dict[str, str] = {}
    name = ""
    pending: list[int] = []
    for place in range(start, end):
        hit = hits[place]
        if hit is None and plain[place] in SEPARATORS:
            pending.append(place)
            continue
        name = hit.name if hit else name
        if name in files:
            files[name] += pending
        else:
            files[name] = []
            gaps[name] = read.joined(place - len(pending), place)
        files[name].append(place)
        pending = []
    if files:
        first, *others = gaps
        gaps[first] = gaps[others[0]] if others else _only_gap(read, plain, files[first])
    revision = _revision(files)
    return [
        Item(
            str(number),
            read.separator.join([read.lines[place] for place in places]),
            metadata={
                "path": lookup_path(name[len(revision) :]),
                "gap": gaps[name],
                **_first_line([hits[place] for place in places]),
            },
        )
        for number, (name, places) in enumerate(files.items(), 1)
    ]


def _revision(names: Collection[str]) -> str:
    """What `git grep` puts before all names when it searches a commit: ``HEAD:``."""
    first = next(iter(names), "")
    revision = first[: first.find(":") + 1]
    possible = len(names) > 1 and len(revision) > 2 and "/" not in revision  # one letter is a drive
    return revision if possible and all(name.startswith(revision) for name in names) else ""


def _only_gap(read: Lines, plain: Sequence[str], places: Sequence[int]) -> str:
    parting = next((place for place in places if plain[place] == "--"), None)
    return "" if parting is None else read.joined(parting, parting + 1)


def _first_line(hits: Sequence[Hit | None]) -> dict[str, int]:
    """Metadata: the number of the first match."""
    for hit in hits:
        if hit and hit.sign == ":" and hit.number is not None:
            return {"line": hit.number}
    return {}


class _Part(NamedTuple):
    """A match in a file's lines.

    Attributes:
        start: of its lines.
        end: the line after them.
        hits: what they are.
        touches: whether the line before it is of the same block.
    """

    start: int
    end: int
    hits: Sequence[Hit | None]
    touches: bool


def _parts(lines: Sequence[str], hits: Sequence[Hit | None]) -> list[_Part]:
    """The matches with their lines of context; separators and headings are left out."""
    parts: list[_Part] = []
    open_part = has_match = False
    for at, (line, hit) in enumerate(zip(lines, hits, strict=True)):
        if (hit is None and line in SEPARATORS) or (hit is not None and not hit.sign):
            open_part = False
            continue
        is_match = hit is not None and hit.sign == ":"
        if open_part and not (is_match and has_match):
            parts[-1] = parts[-1]._replace(end=at + 1, hits=hits[parts[-1].start : at + 1])
            has_match = has_match or is_match
        else:
            parts.append(_Part(at, at + 1, [hit], open_part))
            open_part, has_match = True, is_match
    return parts
