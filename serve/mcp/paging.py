"""From a tool's result to its first page: what is kept, what is paged, and what is put in.

The budget counts the result as JSON, structured copies too, without the data of images and audio, which no
counter of text knows the price of.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from sys import getsizeof
from typing import Any

from ...core.errors import InputError
from ...core.formats import Answer
from ...core.formats.mcp import parse_mcp
from ...core.items import Item, Query
from ...core.pages import Pages, Ways, paginate
from .additions import block_of
from .catalog import Fits
from .forms import FormedAnswer
from .messages import dumps
from .rules import Rule

Result = Mapping[str, Any]
_MEDIA = frozenset({"image", "audio"})
# What the pages of a result hold, as tests/serve/test_mcp_paging.py measures: its text, in whole and in
# pieces, and what Python keeps of each item.
_COPIES, _BYTES_AN_ITEM = 4, 700


@dataclass(frozen=True)
class Further:
    """How the rest of a result is reached.

    Args:
        id: of its pages.
        tool: name of the tool that gives them.
        links: whether the client knows resource links, which came with the protocol of 2025-06-18.
    """

    id: str
    tool: str
    links: bool

    @property
    def ways(self) -> Ways:
        """As the last line of a page tells them."""
        call = f"call {self.tool}(id='{self.id}', "
        return Ways(page=f"{call}page={{}})", item=f"{call}item='{{}}')")

    def link(self, note: str) -> dict[str, str] | None:
        """The resource that a page's last line leads to; None if it leads nowhere, or by the tool alone."""
        found = re.search(rf"{self.tool}\(id='{self.id}', (?:(page)=|(item)=')([\d.]+)", note)
        if not self.links or not found:
            return None
        what, number = found[1] or found[2], found[3]
        return {
            "type": "resource_link",
            "uri": uri_of(self.id, what, number),
            "name": f"{what} {number}",
            "mimeType": "text/plain",
        }


@dataclass(frozen=True)
class FirstPage:
    """A result as it is delivered.

    Args:
        result: in place of the tool's.
        pages: all of them; None if the tool's result is there whole.
        size: bytes of memory that the pages take at the most, about.
    """

    result: dict[str, Any]
    pages: Pages | None = None
    size: int = 0


def uri_of(id: str, what: str, number: str) -> str:
    """The resource of a page, or of an item that is above the budget."""
    return f"firstpage://{id}/{what}/{number}"


def first_page(
    result: Result,
    query: Query,
    rule: Rule,
    fits: Fits,
    further: Further,
    found: Callable[[Sequence[str]], list[str]],
) -> FirstPage | None:
    """The first page of a result.

    Args:
        result: of the tool.
        query: what its items are judged by.
        rule: of the tool.
        fits: tells which structured content the tool may give.
        further: how the rest is reached.
        found: the files to add to a result with these texts.

    Returns:
        The page; None where the result is to be delivered as it is.

    Raises:
        InputError: the budget is too small even for the last line.
        RunError: the value function fails.
    """
    bare, media = _without_media(result)
    text = dumps(bare)
    added = found(_texts(bare)) if not result.get("isError") else []
    if rule.counter.count(text) <= rule.budget:
        return _with_files(result, text, added, rule)
    for files in (added, []) if added else ([],):
        block = block_of(files) if files else None
        reserve = rule.counter.count(f",{dumps(block)}") if block else 0
        try:
            pages, structured = _paged(bare, query, rule, rule.budget - reserve, fits, further)
        except InputError:
            if files:  # without them there may be room
                continue
            raise
        if pages is None:
            return None
        page = pages.page(1)
        items = len(page.items) + page.left + len(pages.oversized)
        delivered = _assembled(json.loads(page.text), media, block) | structured
        return FirstPage(delivered, pages, _COPIES * getsizeof(text) + _BYTES_AN_ITEM * items)
    return None


def _with_files(result: Result, text: str, added: Sequence[str], rule: Rule) -> FirstPage | None:
    """A result that fits, with as many files as fit beside it."""
    for count in range(len(added), 0, -1):
        block = block_of(added[:count])
        if rule.counter.count(f"{text},{dumps(block)}") <= rule.budget:
            return FirstPage(dict(result) | {"content": [*result["content"], block]})
    return None


def _paged(
    bare: Result, query: Query, rule: Rule, budget: int, fits: Fits, further: Further
) -> tuple[Pages | None, dict[str, Any]]:
    """The pages, and what is to be put beside the first: structured content that cannot be made shorter.

    No pages if the rest of the result is no longer than a page.
    """
    pages = _pages(bare, query, rule, budget, further)
    if "structuredContent" not in bare or bare.get("isError"):
        return pages, {}
    page = json.loads(pages.page(1).text)
    if fits(page["structuredContent"]):
        return pages, {}
    rest = {key: value for key, value in bare.items() if key != "structuredContent"}
    whole = {"structuredContent": bare["structuredContent"]}
    if rule.counter.count(dumps(rest)) <= budget:
        return None, {}
    return _pages(rest, query, rule, budget, further), whole


def _pages(bare: Result, query: Query, rule: Rule, budget: int, further: Further) -> Pages:
    pages = _pages_of(_answer(bare, rule.form), query, rule, budget, further)
    if not pages.page(1).items and len(pages) == 1:
        # All that it has is above the budget, such as the root of a tree in JSON; its lines may not be.
        with suppress(InputError):
            lines = _pages_of(FormedAnswer(bare, "paragraphs"), query, rule, budget, further)
            return lines if lines.page(1).items else pages
    return pages


def _pages_of(answer: Answer, query: Query, rule: Rule, budget: int, further: Further) -> Pages:
    linked = LinkedAnswer(answer, further)
    return paginate(linked, query, rule.function, budget, rule.counter, further.ways)


def _answer(bare: Result, form: str) -> Answer:
    if form != "auto":
        with suppress(InputError):  # such as `No matches found`, which has no form
            return FormedAnswer(bare, form)
    return parse_mcp(dumps(bare))


class LinkedAnswer(Answer):
    """A result whose pages have a link to the next one beside their last line.

    Args:
        answer: the result.
        further: makes the link.
    """

    form = "mcp"

    def __init__(self, answer: Answer, further: Further) -> None:
        self._answer, self._further = answer, further
        self.items, self.header, self.footer = answer.items, answer.header, answer.footer
        self.largest = answer.largest

    def render(self, items: Sequence[Item], note: str = "") -> str:
        """The page, on one line."""
        page = json.loads(self._answer.render(items, note))
        if link := self._further.link(note):
            page["content"].insert(-1, link)
        return dumps(page)

    def piece(self, item: Item) -> str:
        """What the item adds to a page."""
        return self._answer.piece(item)

    def split(self, item: Item) -> list[Item]:
        """The parts of the item."""
        return self._answer.split(item)


def _without_media(result: Result) -> tuple[dict[str, Any], list[tuple[int, Any]]]:
    """The result without images and audio, and these with the numbers of other blocks before them."""
    kept: list[Any] = []
    media: list[tuple[int, Any]] = []
    for block in result["content"]:
        if isinstance(block, dict) and block.get("type") in _MEDIA:
            media.append((len(kept), block))
        else:
            kept.append(block)
    return {**result, "content": kept}, media


def _assembled(
    page: dict[str, Any], media: Sequence[tuple[int, Any]], block: Mapping[str, str] | None
) -> dict[str, Any]:
    """The page with images and audio where they were, before or after the text, and with the files added."""
    content = page["content"]
    linked = len(content) > 1 and str(content[-2].get("uri", "")).startswith("firstpage://")
    end = len(content) - (2 if linked else 1)
    before = [one for place, one in media if place == 0]
    after = [one for place, one in media if place > 0]
    files = [block] if block else []
    return page | {"content": [*before, *content[:end], *after, *files, *content[end:]]}


def _texts(result: Result) -> list[str]:
    """All texts of its blocks, and the structured content as JSON."""
    blocks = [block for block in result["content"] if isinstance(block, dict)]
    resources = [block["resource"] for block in blocks if isinstance(block.get("resource"), dict)]
    texts = [one["text"] for one in (*blocks, *resources) if isinstance(one.get("text"), str)]
    if "structuredContent" in result:
        texts.append(json.dumps(result["structuredContent"], ensure_ascii=False))
    return texts
