"""From a parsed answer to pages: what is shown first, what is left, and how to get it.

Page 1 is the knapsack's choice under the budget, filled up with items of no value in the tool's order.
The later pages hold the rest by falling value, each filled until the next item no longer fits. Every item
stands on exactly one page, whole. An item that no page can hold is first split along its form (a diff's
file into hunks, a file's hits into single ones); one that has no smaller parts is on no page, and the
last line of each page names it and how to get it alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .costs import TokenCounter
from .errors import InputError
from .formats.answer import Answer
from .items import Item, Query
from .selection import select
from .values import ValueFunction, evaluate, ranking


@dataclass(frozen=True, slots=True)
class Ways:
    """How a reader of a page gets what is not on it, as written in the page's last line.

    Args:
        page: with ``{}`` for the page's number.
        item: with ``{}`` for the item's id.
    """

    page: str = "--page {}"
    item: str = "--item {}"


@dataclass(frozen=True, slots=True)
class Page:
    """What is delivered.

    Args:
        number: from 1.
        items: by falling value; the form may put parts of one item together.
        text: in the form of the tool's answer, its last line telling what is left.
        tokens: of ``text``, at most the budget.
    """

    number: int
    items: Sequence[Item]
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Pages:
    """A whole answer, cut into pages.

    Args:
        pages: at least one.
        oversized: items that no page can hold, by falling value.
        values: of every item by its id, as the value function gave them.
        costs: of every item by its id, in tokens.
    """

    pages: Sequence[Page]
    oversized: Sequence[Item]
    values: dict[str, float]
    costs: dict[str, int]

    def page(self, number: int) -> Page:
        """The page of that number.

        Raises:
            InputError: there is no such page.
        """
        if not 1 <= number <= len(self.pages):
            count = len(self.pages)
            raise InputError(f"there is no page {number}; the answer has {count} page{'s'[: count > 1]}")
        return self.pages[number - 1]

    def item(self, id: str) -> Item:
        """The item of that id, on a page or oversized.

        Raises:
            InputError: there is no such item.
        """
        everywhere = [*self.oversized, *(item for page in self.pages for item in page.items)]
        found = next((item for item in everywhere if item.id == id), None)
        if found is None:
            raise InputError(f"the answer has no item '{id}'; --json lists the ids")
        return found


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
    press = _Press(answer, budget, counter, ways or Ways())
    items = press.fitting_parts(answer.items)
    values = evaluate(function, query, items)
    pages, oversized = press.pages(items, values)
    return Pages(
        pages,
        oversized,
        {item.id: float(value) for item, value in zip(items, values, strict=True)},
        {item.id: press.cost(item) for item in items},
    )


class _Press:
    """Makes the pages of one answer under one budget."""

    def __init__(self, answer: Answer, budget: int, counter: TokenCounter, ways: Ways) -> None:
        self._answer, self._budget, self._counter, self._ways = answer, budget, counter, ways
        self._costs: dict[str, int] = {}
        # What every page must hold is reckoned with the longest last line that this answer can have.
        many = 10 * len(answer.items) + 9
        longest = max((item.id for item in answer.items), key=len, default="")
        worst = self._note(many, many, many, many, many, [Item(f"{longest}.{many}", "")] * 2, 10**8 - 1)
        frame = counter.count(answer.render([], worst))
        if frame > budget:
            raise InputError(
                f"the budget of {budget} tokens is below the {frame} that the page's header, footer "
                f"and last line may take; give at least {frame}"
            )
        self._room = budget - frame

    def cost(self, item: Item) -> int:
        """Tokens that the item adds to a page at the most."""
        if item.id not in self._costs:
            self._costs[item.id] = self._counter.count(self._answer.piece(item))
        return self._costs[item.id]

    def fitting_parts(self, items: Sequence[Item]) -> list[Item]:
        """The items, those that no page can hold replaced by their parts where they have any."""
        parts: list[Item] = []
        for item in items:
            smaller = self._answer.split(item) if self.cost(item) > self._room else []
            parts += smaller or [item]
        return parts

    def pages(self, items: Sequence[Item], values: NDArray[np.float64]) -> tuple[list[Page], list[Item]]:
        """All pages, and the items that none can hold by falling value."""
        costs = np.array([self.cost(item) for item in items], dtype=np.int64)
        room = self._room
        while True:
            oversized = [items[place] for place in ranking(values) if costs[place] > room]
            batches = [[items[place] for place in batch] for batch in _batches(values, costs, room)]
            pages = self._printed(batches, oversized)
            excess = max(page.tokens for page in pages) - self._budget
            if excess <= 0:
                return pages, oversized
            # A tokenizer may need more for a whole than for its parts; then the pages are made smaller.
            if not any(batches):
                raise InputError(f"the budget of {self._budget} tokens is too small; give a larger one")
            room -= excess

    def _printed(self, batches: Sequence[Sequence[Item]], oversized: Sequence[Item]) -> list[Page]:
        left = sum(map(len, batches))
        everything = left + len(oversized)
        cost = self.cost(oversized[0]) if oversized else 0
        pages = []
        for number, batch in enumerate(batches, 1):
            left -= len(batch)
            note = self._note(number, len(batches), len(batch), left, everything, oversized, cost)
            text = self._answer.render(batch, note)
            pages.append(Page(number, batch, text, self._counter.count(text)))
        return pages

    def _note(
        self,
        number: int,
        total: int,
        shown: int,
        left: int,
        everything: int,
        oversized: Sequence[Item],
        cost: int,
    ) -> str:
        """The page's last line; ``cost`` is that of the first oversized item."""
        told = [f"page {number} of {total}", f"{shown} of {everything} items shown", f"{left} left"]
        if left:
            told[-1] += f": {self._ways.page.format(number + 1)}"
        if oversized:
            which = "1 item is" if len(oversized) == 1 else f"{len(oversized)} items are"
            how = self._ways.item.format(oversized[0].id)
            told.append(f"{which} above the budget: {how} ({cost} tokens)")
        return f"[firstpage: {', '.join(told)}]"


def first_page(values: NDArray[np.float64], costs: NDArray[np.int64], room: int) -> list[int]:
    """The positions of the items of page 1, in the order shown.

    The knapsack's choice, then as many items of no value as still fit, in the tool's order: the choice of
    the first-chunk paper leaves these out, but what is paid for may as well be used.

    Args:
        values: shape ``(n,)``, finite, >= 0.
        costs: shape ``(n,)``, tokens.
        room: tokens for all items together.
    """
    chosen = set(select(values, costs, room).tolist())
    room -= sum(int(costs[place]) for place in chosen)
    for place in np.flatnonzero(values == 0).tolist():
        if costs[place] <= room:
            chosen.add(place)
            room -= int(costs[place])
    return [place for place in ranking(values).tolist() if place in chosen]


def _batches(values: NDArray[np.float64], costs: NDArray[np.int64], room: int) -> list[list[int]]:
    """Positions of the items of each page in the order shown; at least one page, maybe empty."""
    first = first_page(values, costs, room)
    shown = set(first)
    batches = [first]
    free = -1  # no item goes on the first page any more
    for place in ranking(values).tolist():
        if place in shown or costs[place] > room:
            continue
        if costs[place] > free:
            batches.append([])
            free = room
        batches[-1].append(place)
        free -= int(costs[place])
    return batches
