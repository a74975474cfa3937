"""The result of an MCP tool call, alone or in the JSON-RPC response that brings it.

Its texts are those of text blocks and of embedded resources. The only one, or the one that is more than
half of the content, gives the items, in whatever form it has; then another text of several items gives
its own too, other long blocks (an image) are items themselves, and blocks of at most 400 characters are
kept. Where no text is more than half, each block is an item.

``structuredContent`` that says what the text does (its JSON or its string, as the whole or as one
member, or the blocks one by one as ``{"result": [...]}``) is reduced with it. Any other gives items as JSON
does, unless it is short; beside it, short blocks such as ``Found 80 issues`` are kept. Everything else
(``_meta``, annotations, ``isError``) is kept as it was written, and so is a result without items.

The note is one more text block, on the same line, for a message must not contain line breaks. Not
significant: how the reduced text is escaped, if neither as `json.dumps` does nor as Go does.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from ..errors import InputError
from ..items import Item
from ._json import BLANK, Part, document, elements, members
from .answer import Answer
from .json_array import JsonAnswer, array_within, parse_json
from .note import NOTE

Escape = Callable[[str], str]

_HTML = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLOCKS = frozenset({"text", "image", "audio", "resource", "resource_link"})
_SHORT = 400  # characters of a block that is kept beside others


class _Region(NamedTuple):
    """A part of the result that is written anew for each page.

    Attributes:
        start: of it in the text.
        end: position after it.
        source: position of the answer whose items are written there.
        render: what stands there on a page with these items of that answer.
        piece: what an item adds there at the most.
    """

    start: int
    end: int
    source: int
    render: Callable[[Sequence[Item]], str]
    piece: Callable[[Item], str]


class McpAnswer(Answer):
    """What the parts of a tool result say, with the rest of the result around it.

    Args:
        text: the whole result.
        content: where its blocks start and end in the text.
        sources: the answers whose items these are, with their ids counted on.
        regions: the parts of the result that are written anew.
    """

    form = "mcp"

    def __init__(
        self, text: str, content: tuple[int, int], sources: Sequence[Answer], regions: Sequence[_Region]
    ) -> None:
        self.text, self.content, self.sources = text, content, sources
        self.regions = sorted(regions, key=lambda region: region.start)
        self._before = [0, *accumulate(len(source.items) for source in sources)]
        self.items = [
            _counted_on(item, before)
            for source, before in zip(sources, self._before, strict=False)
            for item in source.items
        ]
        self.largest = min((source.largest for source in sources), default=1.0)
        self.header, self.footer = self.render([]), ""

    def render(self, items: Sequence[Item], note: str = "") -> str:
        """The result with these items in it; the note is a text block at the end of the content."""
        chosen: list[list[Item]] = [[] for _ in self.sources]
        for item in items:
            source, own = self._own(item)
            chosen[source].append(own)
        start, end = self.content
        blocks = self._filled(start, end, chosen).lstrip(f"{BLANK},")  # where the first ones are not shown
        if note:
            block = json.dumps({"type": "text", "text": note}, ensure_ascii=False)
            blocks += f"{',' if blocks else ''}{block}"
        return self._filled(0, start, chosen) + blocks + self._filled(end, len(self.text), chosen)

    def piece(self, item: Item) -> str:
        """What the item adds in the text and in its structured copy, escaped."""
        source, own = self._own(item)
        return "".join(region.piece(own) for region in self.regions if region.source == source)

    def split(self, item: Item) -> list[Item]:
        """The parts of an item of a text; none if it is a whole block or JSON."""
        source, own = self._own(item)
        return [_counted_on(part, self._before[source]) for part in self.sources[source].split(own)]

    def _own(self, item: Item) -> tuple[int, Item]:
        """The position of the answer that an item is of, and the item as it is there."""
        source = bisect_right(self._before, int(item.id.partition(".")[0]) - 1) - 1
        return source, _counted_on(item, -self._before[source])

    def _filled(self, start: int, end: int, chosen: Sequence[Sequence[Item]]) -> str:
        parts: list[str] = []
        for region in self.regions:
            if start <= region.start < end:
                parts += [self.text[start : region.start], region.render(chosen[region.source])]
                start = region.end
        return "".join([*parts, self.text[start:end]])


class _Block(Answer):
    """A block of the content as an answer with one item."""

    form = "mcp"

    def __init__(self, text: str) -> None:
        self.items, self.header, self.footer = [Item("1", text)], "", ""

    def render(self, items: Sequence[Item], note: str = "") -> str:  # noqa: ARG002 -- it has no note
        """The block, if it is chosen."""
        return "".join(item.text for item in items)

    def piece(self, item: Item) -> str:
        """The block."""
        return item.text


def _counted_on(item: Item, before: int) -> Item:
    """The item as one of a list with so many before it."""
    number, dot, part = item.id.partition(".")
    return Item(f"{int(number) + before}{dot}{part}", item.text, metadata=item.metadata) if before else item


def parse_mcp(text: str, array: str | None = None) -> McpAnswer:
    """The items of a tool result.

    Args:
        text: a ``CallToolResult``, or a JSON-RPC response with one.
        array: where the items are if the result's text is JSON; see `parse_json`.

    Raises:
        InputError: the text is no result of an MCP tool, or its text has no such array.
    """
    fields = _fields(text)
    if fields is None:
        raise InputError("the JSON is no result of an MCP tool; use the form 'json'")
    content = fields["content"]
    blocks = list(elements(text, content.start))
    if blocks and _is_note(blocks[-1].value):
        kept = blocks[-2].end if len(blocks) > 1 else content.start + 1
        return parse_mcp(text[:kept] + text[content.end - 1 :], array)
    result = _Result(text, blocks, fields.get("structuredContent"), array)
    inside = (blocks[0].start, blocks[-1].end) if blocks else (content.start + 1, content.end - 1)
    return McpAnswer(text, inside, result.sources, result.regions)


class _Result:
    """Finds the answers in a tool result and the regions that they are written to.

    Attributes:
        sources: the answers.
        regions: where their items stand.
    """

    def __init__(self, text: str, blocks: Sequence[Part], structured: Part | None, array: str | None) -> None:
        self.sources: list[Answer] = []
        self.regions: list[_Region] = []
        self._text, self._blocks, self._structured, self._array = text, blocks, structured, array
        strings = [_string(text, block) for block in blocks]
        main, said = self._main(strings)
        copies = self._copies(main, said) if main and said else []
        own = None if copies else self._own_structure(said is None)
        is_short = sum(map(_size, blocks)) <= _SHORT
        if not main and not (own and is_short):
            self._add_blocks()
        else:
            for place, string in enumerate(strings):
                self._add_beside(place, string, said if string is main else None, own is not None)
        if main and said and said in self.sources:
            self.regions += [region._replace(source=self.sources.index(said)) for region in copies]
        if structured and own and not self._blocks_copied():
            self.sources.append(own)
            self.regions.append(_elements_region(structured, own)._replace(source=len(self.sources) - 1))

    def _main(self, strings: Sequence[Part | None]) -> tuple[Part | None, Answer | None]:
        """The only text, or the one that is more than half of the content, and the answer that it is."""
        sizes = [(_size(block), string) for block, string in zip(self._blocks, strings, strict=True)]
        texts = [(size, string) for size, string in sizes if string]
        if not texts:
            return None, None
        largest, main = max(texts, key=lambda text: text[0])
        if len(texts) > 1 and 2 * largest <= sum(size for size, _ in sizes):
            return None, None
        try:
            said = _parsed(main, self._array)
        except InputError:
            if not self._structured:
                raise
            return main, None  # the array may be in there
        return (None, None) if len(texts) > 1 and len(said.items) < 2 else (main, said)

    def _copies(self, main: Part, said: Answer) -> list[_Region]:
        """The region of structured content that says what the text says; none if it says another thing."""
        if not self._structured or not said.items:
            return []
        part = self._structured
        is_object = isinstance(part.value, dict)
        within = list(members(self._text, part.start)) if is_object else []
        for member in within:
            if member.value == main.value:
                return [_string_region(self._text, member, said)]
        if isinstance(said, JsonAnswer):
            value = document(main.value).value
            for copy in (part, *within):
                if copy.value == value:
                    written = self._text[copy.start : copy.end]
                    return [_elements_region(copy, array_within(written, said.location))]
        return []

    def _own_structure(self, has_array: bool) -> JsonAnswer | None:
        """What structured content says that the text does not; None if it is short or has no items."""
        part = self._structured
        if not part or not isinstance(part.value, dict) or (_size(part) <= _SHORT and not has_array):
            return None
        array = self._array if has_array else None
        own = parse_json(self._text[part.start : part.end], array)
        return own if own.items and (array is not None or _size(part) > _SHORT) else None

    def _add_blocks(self) -> None:
        """Each block as an item, and the elements of structured content that say the same one by one."""
        if not self._blocks:
            return
        content = Part("", [], self._blocks[0].start, self._blocks[-1].end, 0)
        answer = parse_json(f"[{self._text[content.start : content.end]}]", "")
        self.sources.append(answer)
        self.regions.append(
            _Region(content.start, content.end, len(self.sources) - 1, answer.elements, answer.piece)
        )
        if self._structured and self._blocks_copied():
            written = self._text[self._structured.start : self._structured.end]
            copy = array_within(written, ("result",))
            self.regions.append(_elements_region(self._structured, copy))

    def _blocks_copied(self) -> bool:
        """Whether structured content says what the blocks say, one by one."""
        value = self._structured.value if self._structured else None
        values = value["result"] if isinstance(value, dict) and list(value) == ["result"] else None
        if not isinstance(values, list) or not values or len(values) != len(self._blocks):
            return False
        return all(_says(block.value, value) for block, value in zip(self._blocks, values, strict=True))

    def _add_beside(self, place: int, string: Part | None, said: Answer | None, structured: bool) -> None:
        """A block whose text gives items, or that is one itself, unless it is short and beside others."""
        block = self._blocks[place]
        if _size(block) <= _SHORT and (said is None or structured):
            return
        inner = said or (_parsed(string, None) if string else None)
        if string and inner and inner.items and (said or len(inner.items) > 1):
            self.regions.append(_string_region(self._text, string, inner)._replace(source=len(self.sources)))
            self.sources.append(inner)
        elif not said:
            self._add_block(place)

    def _add_block(self, place: int) -> None:
        start, end = self._blocks[place].start, self._blocks[place].end
        gaps = [self._text[before.end : block.start] for before, block in pairwise(self._blocks)] or [""]
        gap, longest = gaps[place - 1] if place else "", max(gaps, key=len)
        self.regions.append(
            _Region(
                start - len(gap),
                end,
                len(self.sources),
                lambda items: "".join(f"{gap}{item.text}" for item in items),
                lambda item: f"{longest}{item.text}",
            )
        )
        self.sources.append(_Block(self._text[start:end]))


def is_mcp(text: str) -> bool:
    """Whether the text is the result of an MCP tool."""
    try:
        return _fields(text) is not None
    except InputError:
        return False


def _fields(text: str) -> dict[str, Part] | None:
    """The members of the result, if it is one."""
    part = document(text)
    for _ in range(2):
        if not isinstance(part.value, dict):
            return None
        fields = {member.key: member for member in members(text, part.start)}
        if "content" in fields:
            blocks = fields["content"].value
            fits = isinstance(blocks, list) and all(
                isinstance(block, dict) and block.get("type") in _BLOCKS for block in blocks
            )
            return fields if fits else None
        if "result" not in fields:
            return None
        part = fields["result"]
    return None


def _string(text: str, block: Part) -> Part | None:
    """The string that is the text of a block, or of the resource in it."""
    if block.value["type"] == "resource" and isinstance(block.value.get("resource"), dict):
        resources = [member for member in members(text, block.start) if member.key == "resource"]
        block = resources[-1]
    elif block.value["type"] != "text":
        return None
    strings = [member for member in members(text, block.start) if member.key == "text"]
    return strings[-1] if strings and isinstance(strings[-1].value, str) else None


def _parsed(string: Part, array: str | None) -> Answer:
    from . import parse  # the package imports this module

    return parse(string.value, array=array)


def _size(part: Part) -> int:
    return part.end - part.start


def _says(block: Mapping[str, Any], value: object) -> bool:
    text = block.get("text")
    if not isinstance(text, str) or text == value:
        return isinstance(text, str)
    try:
        return bool(document(text).value == value)
    except InputError:
        return False


def _string_region(text: str, string: Part, inner: Answer) -> _Region:
    escape = _escape_like(text[string.start : string.end], string.value)
    return _Region(
        string.start,
        string.end,
        0,
        lambda items: escape(inner.render(items)),
        lambda item: escape(inner.piece(item))[1:-1],
    )


def _elements_region(part: Part, copy: JsonAnswer) -> _Region:
    """What the JSON of this part has as items, chosen by their ids."""
    by_id = {item.id: item for item in copy.items}
    return _Region(
        part.start + len(copy.header),
        part.end - len(copy.footer),
        0,
        lambda items: copy.elements([by_id[item.id] for item in items]),
        lambda item: copy.piece(by_id[item.id]),
    )


def _escape_like(written: str, value: str) -> Escape:
    """The way of escaping that gave what is written, so that a page reads as the server writes."""
    return next((escape for escape in (_plain, json.dumps, _for_html) if escape(value) == written), _safe)


def _plain(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _for_html(text: str) -> str:
    return _plain(text).translate(_HTML)


def _safe(text: str) -> str:
    """As `_plain`, with lone surrogates escaped, which have no UTF-8."""
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", _plain(text))


def _is_note(block: Mapping[str, Any]) -> bool:
    return block["type"] == "text" and NOTE.fullmatch(str(block.get("text"))) is not None
