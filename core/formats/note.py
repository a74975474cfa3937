r"""A page's last line: what it tells, how it is written, and the pattern that it is known by again.

Example:
    >>> print(PageNote(1, 7, 11, 96, 85).text(Ways()))
    [firstpage: page 1 of 7, 11 of 96 items shown, 85 left: --page 2]
    >>> print(ItemNote("5", following=("9", 730)).text(Ways()))
    [firstpage: item 5 alone, next above the budget: --item 9 (730 tokens)]
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Parsers know a note by it and drop it, so that a page can be parsed again; a line that only starts as a
# note does is the tool's own and stays. How to get the rest is free text, for each caller has its own way.
NOTE = re.compile(
    r"\[firstpage: (?:"
    r"page \d+ of \d+, \d+ of \d+ items shown, \d+ left"
    r"(?:: [^\r\n]*|, (?:1 item is|\d+ items are) above the budget: [^\r\n]*)?"
    r"|item [\d.]+ alone, (?:next above the budget: [^\r\n]*|the last above the budget)"
    r")\]"
)

_NAMED = 3  # items above the budget that a page's note names; the items' own notes lead to the others


@dataclass(frozen=True, slots=True)
class Ways:
    """How an agent gets what is not on a page, as its note says; neither may have a line break.

    Args:
        page: with ``{}`` for the page's number.
        item: with ``{}`` for the item's id.
    """

    page: str = "--page {}"
    item: str = "--item {}"


@dataclass(frozen=True, slots=True)
class PageNote:
    """What the last line of a page tells.

    Args:
        page: its number, from 1.
        pages: how many there are.
        shown: items on it.
        items: of the whole answer.
        left: items on later pages.
        oversized: id and cost of each item that no page can hold.
    """

    page: int
    pages: int
    shown: int
    items: int
    left: int
    oversized: Sequence[tuple[str, int]] = ()

    def text(self, ways: Ways) -> str:
        """The line, without a line break."""
        told = [f"page {self.page} of {self.pages}", f"{self.shown} of {self.items} items shown"]
        told.append(f"{self.left} left" + (f": {ways.page.format(self.page + 1)}" if self.left else ""))
        if self.oversized:
            count = len(self.oversized)
            which = "1 item is" if count == 1 else f"{count} items are"
            told.append(f"{which} above the budget: {_named(self.oversized[0], ways)}")
            if count > 1:
                then = ", ".join(id for id, _ in self.oversized[1:_NAMED])
                told.append(f"then {then}" + (f" and {count - _NAMED} more" if count > _NAMED else ""))
        return f"[firstpage: {', '.join(told)}]"


@dataclass(frozen=True, slots=True)
class ItemNote:
    """What the last line tells after an item above the budget that is delivered alone.

    Args:
        item: its id.
        following: id and cost of the next such item; None after the last one.
    """

    item: str
    following: tuple[str, int] | None

    def text(self, ways: Ways) -> str:
        """The line, without a line break."""
        more = f"next above the budget: {_named(self.following, ways)}" if self.following else ""
        return f"[firstpage: item {self.item} alone, {more or 'the last above the budget'}]"


def _named(oversized: tuple[str, int], ways: Ways) -> str:
    id, cost = oversized
    return f"{ways.item.format(id)} ({cost} tokens)"
