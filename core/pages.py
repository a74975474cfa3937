"""From a parsed answer to pages: what is shown first, what is left, and how to get it.

Page 1 is the knapsack's choice under the budget, filled up by falling value with whatever still fits.
The later pages hold the rest by falling value, each filled until the next item no longer fits. Every item
stands on exactly one page, whole. An item that no page can hold is first split along its form (a diff's
file into hunks), a search's already where it would take much of a page (`Answer.largest`); one that has
no smaller parts is on no page. The last
line of each page says how many there are and how to get the first, whose last line leads to the next.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .costs import TokenCounter
from .errors import InputError
from .formats.answer import Answer
from .formats.note import ItemNote, PageNote, Ways
from .items import Item, Query
from .selection import select
from .values import ValueFunction, evaluate, ranking

__all__ = ["Page", "Pages", "Ways", "first_page", "paginate"]


@dataclass(frozen=True, slots=True)
class Page:
    """What is delivered.

    Args:
        number: from 1; None for an item that was asked for by its id.
        items: by falling value; the form may put parts of one item together.
        left: items on later pages.
        text: in the form of the tool's answer, its last line telling what is left.
        tokens: of ``text``; at most the budget, unless an item was asked for.
    """

    number: int | None
    items: Sequence[Item]
    left: int
    text: str
    tokens: int


class Pages:
    """A whole answer, cut into pages that are rendered when they are asked for; `paginate` makes it.

    Attributes:
        oversized: items that no page can hold, by falling value.
    """

    def __init__(
        self, press: "_Press", items: Sequence[Item], values: NDArray[np.float64], room: int
    ) -> None:
        self._press, self._items, self._values = press, items, values
        costs = np.array(press.costs(items), dtype=np.int64)
        self.oversized = [items[place] for place in ranking(values).tolist() if costs[place] > room]
        self._named = list(
            zip((item.id for item in self.oversized), press.costs(self.oversized), strict=True)
        )
        self._batches = _batches(values, costs, room)
        self._shown = list(accumulate(map(len, self._batches)))

    def __len__(self) -> int:
        """How many pages there are: at least one."""
        return len(self._batches)

    def __iter__(self) -> Iterator[Page]:
        """All pages, in their order."""
        return map(self.page, range(1, len(self) + 1))

    def page(self, number: int) -> Page:
        """The page of that number.

        Raises:
            InputError: there is no such page.
        """
        count = len(self)
        if not 1 <= number <= count:
            raise InputError(f"there is no page {number}; the answer has {count} page{'s'[: count > 1]}")
        items = [self._items[place] for place in self._batches[number - 1]]
        left = self._shown[-1] - self._shown[number - 1]
        note = PageNote(number, count, len(items), len(self._items), left, self._named)
        return Page(number, items, left, *self._press.printed(items, note))

    def item(self, id: str) -> Page:
        """The item of that id alone, whatever it costs.

        One that no page can hold ends with a note that leads to the next such item, so that whoever follows
        the notes gets them all.

        Raises:
            InputError: there is no such item.
        """
        found = [item for item in self._items if item.id == id]
        if not found:
            raise InputError(f"the answer has no item '{id}'; --json lists the ids")
        following = dict(zip((id for id, _ in self._named), [*self._named[1:], None], strict=True))
        note = ItemNote(id, following[id]) if id in following else None
        return Page(None, found, 0, *self._press.printed(found, note))

    def report(self, page: Page) -> dict[str, Any]:
        """A page with its items, their values and costs, as JSON takes it."""
        return {
            "page": page.number,
            "pages": len(self),
            "tokens": page.tokens,
            "left": page.left,
            "items": [self._row(item) | {"text": item.text} for item in page.items],
            # Without their texts, which no page can hold.
            "oversized": [self._row(item) for item in self.oversized],
            "text": page.text,
        }

    def _row(self, item: Item) -> dict[str, Any]:
        return {
            "id": item.id,
            "path": item.path,
            "value": self.values[item.id],
            "cost": self.costs[item.id],
        }

    @cached_property
    def values(self) -> dict[str, float]:
        """Of every item by its id, as the value function gave them."""
        return dict(zip((item.id for item in self._items), self._values.tolist(), strict=True))

    @cached_property
    def costs(self) -> dict[str, int]:
        """Of every item by its id, in tokens."""
        return dict(zip((item.id for item in self._items), self._press.costs(self._items), strict=True))


def paginate(
    answer: Answer,
    query: Query,
    function: ValueFunction,
    budget: int,
    counter: TokenCounter,
    ways: Ways | None = None,
) -> Pages:
    """Cuts an answer into pages of at most ``budget`` tokens, the best first.

    Args:
        answer: as parsed.
        query: what its items are judged by.
        function: judges them.
        budget: tokens of a rendered page: items, header, footer and last line together.
        counter: what a token is.
        ways: how the last line says to get the rest; the command line's options if None.

    Returns:
        All pages.

    Raises:
        InputError: the budget is below what header, footer and last line take.
        RunError: the value function breaks its contract.
    """
    press = _Press(answer, counter, ways or Ways())
    items: Sequence[Item] = []
    values = np.zeros(0)
    spare = 0
    while True:
        parts, room = press.parts(budget, spare)
        if len(parts) != len(items):  # less room splits more of them, and never other ones
            items, values = parts, _diminished(parts, evaluate(function, query, parts))
        pages = Pages(press, items, values, room)
        excess = 0 if counter.subadditive else max(page.tokens for page in pages) - budget
        if excess <= 0:
            return pages
        # A tokenizer may take more for a whole than for its parts; then the pages are made smaller.
        spare += min(excess, room // 2 + 1)


def _diminished(items: Sequence[Item], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values, where the k-th best part of one item counts for a k-th of its own.

    Each part of a file that was too large for a page is about as good as the file: without this the many
    parts of one would fill the page and leave no room for the best of another.
    """
    taken: dict[str, int] = {}
    diminished = values.copy()
    for place in ranking(values).tolist():
        whole, dot, _ = items[place].id.partition(".")
        if dot:
            taken[whole] = taken.get(whole, 0) + 1
            diminished[place] /= taken[whole]
    return diminished


class _Press:
    """Knows what the items of one answer cost, splits them and prints them."""

    def __init__(self, answer: Answer, counter: TokenCounter, ways: Ways) -> None:
        self._answer, self._counter, self._ways = answer, counter, ways
        self._costs: dict[str, int] = {}

    def costs(self, items: Sequence[Item]) -> list[int]:
        """Tokens that each item adds to a page at the most."""
        for item in items:
            if item.id not in self._costs:
                self._costs[item.id] = self._counter.count(self._answer.piece(item))
        return [self._costs[item.id] for item in items]

    def printed(self, items: Sequence[Item], note: PageNote | ItemNote | None) -> tuple[str, int]:
        """The page with these items, and its tokens."""
        text = self._answer.render(items, note.text(self._ways) if note else "")
        return text, self._counter.count(text)

    def parts(self, budget: int, spare: int) -> tuple[Sequence[Item], int]:
        """The items, and the tokens that a page leaves for them.

        Items that no page can hold are replaced by their parts where they have any. Of the budget, the last
        line gets what it may take: it says how to get the rest only if not all fit on one page, and names
        items only if one fits on no page.

        Args:
            budget: tokens of a page.
            spare: tokens of it to leave free.

        Raises:
            InputError: that leaves less than nothing.
        """
        items, aim = self._answer.items, budget - spare
        costs = self.costs(items)
        frame = self._frame(PageNote(1, 1, len(items), len(items), 0))
        whole = frame + sum(costs)
        if whole <= aim:
            return items, aim - frame
        most = sum(item.text.count("\n") + 1 for item in items)  # as each part is a line at least
        frame = self._frame(PageNote(most, most, most, most, most))
        room = aim - frame
        parts = self._split(room)
        if max(self.costs(parts), default=0) > room:
            longest = max((item.id for item in items), key=len, default="")
            named = [(f"{longest}.{most}", 10 * max(costs, default=0))] * most
            naming = self._frame(PageNote(most, most, most, most, most, named))
            room = aim - naming
            if room < 0:
                least = min(whole, frame + max(costs, default=0), naming) + spare
                raise InputError(
                    f"the budget of {budget} tokens is below the {least} that a page with its header, "
                    f"footer and last line may take; give at least {least}"
                )
            parts = self._split(room)
        return parts, room

    def _frame(self, note: PageNote) -> int:
        """Tokens of a page without items."""
        return self._counter.count(self._answer.render([], note.text(self._ways)))

    def _split(self, room: int) -> Sequence[Item]:
        """The items, those too large for the room replaced by their parts where they have any."""
        parts: list[Item] = []
        for item, cost in zip(self._answer.items, self.costs(self._answer.items), strict=True):
            parts += (self._answer.split(item) if cost > room * self._answer.largest else []) or [item]
        return parts


def first_page(values: NDArray[np.float64], costs: NDArray[np.int64], room: int) -> list[int]:
    """The positions of the items of page 1, in the order shown.

    The knapsack's choice, then by falling value as many others as still fit. The choice of the first-chunk
    paper leaves out what has no value, and an exact one what has next to none; but what is paid for may as
    well be used.

    Args:
        values: shape ``(n,)``, finite, >= 0.
        costs: shape ``(n,)``, tokens.
        room: tokens for all items together.
    """
    chosen = set(select(values, costs, room).tolist())
    price = costs.tolist()
    room -= sum(price[place] for place in chosen)
    order = ranking(values).tolist()
    for place in order:
        if place not in chosen and price[place] <= room:
            chosen.add(place)
            room -= price[place]
    return [place for place in order if place in chosen]


def _batches(values: NDArray[np.float64], costs: NDArray[np.int64], room: int) -> list[list[int]]:
    """Positions of the items of each page in the order shown; at least one page, maybe empty."""
    first = first_page(values, costs, room)
    shown = set(first)
    price = costs.tolist()
    batches = [first]
    free = -1  # no item goes on the first page any more
    for place in ranking(values).tolist():
        if place in shown or price[place] > room:
            continue
        if price[place] > free:
            batches.append([])
            free = room
        batches[-1].append(place)
        free -= price[place]
    return batches
