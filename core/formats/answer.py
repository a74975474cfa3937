r"""What every form of tool answer can do: give its items, and put chosen ones back together.

A parser turns text into an `Answer`; rendering an answer's own items in their order with no note gives
back what was parsed, up to what its form calls insignificant. Text is split at "\n" alone, never by
`str.splitlines`, so that a form feed or a lone carriage return inside a line stays there.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from ..items import Item

# Of a search's answer. A file with hundreds of hits would take the whole page or be left out for its cost,
# whatever its value; split, its best hits are there and leave room for those of other files.
LARGEST_HIT = 1 / 8


class Answer(ABC):
    """A parsed tool answer.

    A page is never longer than ``render([], note)`` and the `piece` of each of its items together.

    Attributes:
        form: name of the form, as in ``--form``.
        largest: part of a page that an item may take before it is split.
        items: in the tool's native order.
        header: text before the items that is none itself; always delivered.
        footer: the same after the items.
    """

    form: ClassVar[str]
    largest: float = 1.0
    items: Sequence[Item]
    header: str
    footer: str

    @abstractmethod
    def render(self, items: Sequence[Item], note: str = "") -> str:
        """A page of this form with these items, in this order except where the form binds them together.

        Args:
            items: any of this answer's, or of those that `split` made of one; none of them twice, and
                none beside its own parts.
            note: one line without a line break, put last in a way the form allows; none if empty. It is
                recognised when the page is parsed only if it has the shape of `note.NOTE`.
        """

    @abstractmethod
    def piece(self, item: Item) -> str:
        """What the item adds to a page at the most: its text, what must stand around it, and separators."""

    def split(self, item: Item) -> list[Item]:  # noqa: ARG002 -- most forms have nothing to split
        """The item as smaller ones that this answer renders too; empty where it has no smaller parts.

        A part is at least one line, and is never split again.
        """
        return []


class LinesAnswer(Answer):
    r"""An answer whose items are runs of whole lines, one after the other.

    Items with the same ``within`` texts are rendered together under one copy of them, at the place of
    the first, so that a hunk stands under its file's header and a row under its table's. The lines that
    part an item from the one before it (``--``, a blank line) are its ``gap`` in the metadata; none is
    put before an item that follows a header or its ``within``.

    Args:
        items: in the tool's native order.
        header: whole lines, each with its separator.
        footer: the same.
        separator: what ends a line: ``"\n"``, ``"\r\n"`` or ``"\0"``.
        terminated: whether the last line of the text had its separator.
    """

    ungrouped_first = False  # whether what has no `within` text comes before what has one
    group_gap = ""  # stands before a `within` text that is not the first thing on a page

    def __init__(
        self,
        items: Sequence[Item],
        header: str = "",
        footer: str = "",
        separator: str = "\n",
        terminated: bool = True,
    ) -> None:
        self.items, self.header, self.footer = items, header, footer
        self.separator, self.terminated = separator, terminated

    def render(self, items: Sequence[Item], note: str = "") -> str:
        """The header, the items with what they stand within, the footer, and the note as the last line."""
        lines = [self.header, *self._body(self.ordered(items), 0), self.footer]
        if note:
            lines.append(f"{self.before_note()}{note}{self.separator}")
        page = "".join(lines)
        return page if self.terminated else page.removesuffix(self.separator)

    def piece(self, item: Item) -> str:
        """The item with its gap, everything it stands within, and its separator."""
        within: tuple[str, ...] = item.metadata.get("within", ())
        if not within:
            return f"{item.metadata.get('gap', '')}{item.text}{self.separator}"
        above = "".join(f"{self.group_gap}{text}{self.separator}" for text in within)
        below = "".join(map(self.below, within))
        return f"{item.metadata.get('gap', '')}{above}{item.text}{self.separator}{below}"

    def gap(self, before: Item, item: Item) -> str:  # noqa: ARG002 -- a form may look at both
        """What parts the item from the one before it on the page."""
        gap: str = item.metadata.get("gap", "")
        return gap

    def ordered(self, items: Sequence[Item]) -> Sequence[Item]:
        """The order in which the items of a page, or of one group on it, are rendered.

        Parts of one item stand together, in its own order, at the place of the first of them. Items whose
        order carries meaning are put in the tool's order; whatever else is asked for stays as it is.
        """
        parts: dict[str, list[Item]] = {}
        for item in items:
            parts.setdefault(item.id.partition(".")[0], []).append(item)
        together = [part for of_one in parts.values() for part in sorted(of_one, key=_part_number)]
        meant = iter(sorted(filter(self.keeps_order, together), key=_number))
        return [next(meant) if self.keeps_order(item) else item for item in together]

    def keeps_order(self, item: Item) -> bool:  # noqa: ARG002 -- a form may look at the item
        """Whether the item stands after those that the tool put before it, whatever order is asked for."""
        return False

    def parting(self, before: Item | None, within: str) -> str:
        """What parts a `within` text from the item before it on the page."""
        parted = before is None or not within or within.startswith(self.separator)
        return "" if parted else self.group_gap

    def below(self, within: str) -> str:  # noqa: ARG002 -- most forms close nothing
        """What must follow the items that stand within this text."""
        return ""

    def before_note(self) -> str:
        """What parts the note from the lines before it."""
        return ""

    def _body(self, items: Sequence[Item], depth: int) -> list[str]:
        groups: dict[str | int, list[Item]] = {}
        for place, item in enumerate(items):
            within: tuple[str, ...] = item.metadata.get("within", ())
            groups.setdefault(within[depth] if depth < len(within) else place, []).append(item)
        body: list[str] = []
        before: Item | None = None
        members: Sequence[Item]
        for above, members in sorted(
            groups.items(), key=lambda group: self.ungrouped_first and isinstance(group[0], str)
        ):
            if isinstance(above, str):
                members = list(self.ordered(members))
                body += [self.parting(before, above), above, self.separator]
                body += [*self._body(members, depth + 1), self.below(above)]
            else:
                body.append("" if before is None else self.gap(before, members[0]))
                body += [members[0].text, self.separator]
            before = members[-1]
        return body


class MarkedAnswer(Answer):
    """An answer after a mark of the byte order, which stays at the start of every page.

    Args:
        mark: the mark.
        answer: what follows it.
    """

    def __init__(self, mark: str, answer: Answer) -> None:
        self._mark, self._answer = mark, answer
        self.form = answer.form  # type: ignore[misc]  # the other's, not one of its class
        self.items, self.header, self.footer = answer.items, mark + answer.header, answer.footer

    def render(self, items: Sequence[Item], note: str = "") -> str:
        """The mark and the page."""
        return self._mark + self._answer.render(items, note)

    def piece(self, item: Item) -> str:
        """What the item adds to a page."""
        return self._answer.piece(item)

    def split(self, item: Item) -> list[Item]:
        """The parts of the item."""
        return self._answer.split(item)


def _number(item: Item) -> tuple[int, int]:
    return int(item.id.partition(".")[0]), _part_number(item)


def _part_number(item: Item) -> int:
    return int(item.id.partition(".")[2] or 0)
