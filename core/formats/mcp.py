"""The result of an MCP tool call, alone or in the JSON-RPC response that brings it.

With one text block, the items are those of its text, in whatever form that has. With several blocks, they
are those of the largest text block if that holds more than half of the content and at least two items;
else each block is an item. Everything else (other blocks, ``_meta``, annotations) is kept as it was
written, and so is a result with ``isError`` or without items, which stays whole.

``structuredContent`` that says the same as the text (its JSON, its string as ``{"result": …}``, or its
blocks one by one as ``{"result": […]}``) is reduced with it; any other is kept as it is. The note is one
more text block, on the same line, for a message must not contain line breaks. Not significant: how
the reduced text is escaped, if neither as `json.dumps` does nor as Go does.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import InputError
from ..items import Item
from ._json import BLANK, Part, document, elements, members
from .answer import NOTE, Answer
from .json_array import JsonAnswer, array_at, array_within

Escape = Callable[[str], str]

_HTML = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLOCKS = frozenset({"text", "image", "audio", "resource", "resource_link"})


class _Slot(NamedTuple):
    """A part of the result that is written anew for each page.

    Attributes:
        start: of it in the text.
        end: position after it.
        render: what stands there on a page with these items.
        piece: what an item adds there at the most.
    """

    start: int
    end: int
    render: Callable[[Sequence[Item]], str]
    piece: Callable[[Item], str]


class McpAnswer(Answer):
    """What one part of a tool result says, with the rest of the result around it.

    Args:
        text: the whole result.
        slots: its parts that are written anew, in their order.
        content_end: position of the bracket that closes the content.
        inner: the answer whose items these are; None if the result stays whole.
    """

    form = "mcp"

    def __init__(self, text: str, slots: Sequence[_Slot], content_end: int, inner: Answer | None) -> None:
        self.text, self.slots, self.content_end, self.inner = text, slots, content_end, inner
        self.items = inner.items if inner else []
        self.header, self.footer = self.render([]), ""

    def render(self, items: Sequence[Item], note: str = "") -> str:
        """The result with these items in it; the note is a text block at the end of the content."""
        content = self._filled(0, self.content_end, items)
        if note:
            inside = content.rstrip(BLANK)
            comma = "" if inside.endswith("[") else ","
            block = json.dumps({"type": "text", "text": note}, ensure_ascii=False)
            content = f"{inside}{comma}{block}{content[len(inside) :]}"
        return content + self._filled(self.content_end, len(self.text), items)

    def piece(self, item: Item) -> str:
        """What the item adds in the text and in its structured copy, escaped."""
        return "".join(slot.piece(item) for slot in self.slots)

    def split(self, item: Item) -> list[Item]:
        """The parts of an item of the text; none if the items are whole blocks or JSON."""
        return self.inner.split(item) if self.inner else []

    def _filled(self, start: int, end: int, items: Sequence[Item]) -> str:
        parts: list[str] = []
        for slot in self.slots:
            if start <= slot.start < end:
                parts += [self.text[start : slot.start], slot.render(items)]
                start = slot.end
        return "".join([*parts, self.text[start:end]])


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
    if not blocks or ("isError" in fields and fields["isError"].value is True):
        return McpAnswer(text, [], content.end - 1, None)
    slots, inner = _of_text(text, fields, blocks, array) or _of_blocks(text, fields, blocks)
    if not inner.items:
        return McpAnswer(text, [], content.end - 1, None)
    return McpAnswer(text, sorted(slots, key=lambda slot: slot.start), content.end - 1, inner)


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


def _of_text(
    text: str, fields: Mapping[str, Part], blocks: Sequence[Part], array: str | None
) -> tuple[list[_Slot], Answer] | None:
    """The items of the only text block, or of the one that is most of the content."""
    from . import parse  # the package imports this module

    texts = [
        block
        for block in blocks
        if block.value["type"] == "text" and isinstance(block.value.get("text"), str)
    ]
    if not texts:
        return None
    largest = max(texts, key=_size)
    if len(texts) > 1 and 2 * _size(largest) <= sum(map(_size, blocks)):
        return None
    inner = parse(largest.value["text"], array=array)
    if len(texts) > 1 and len(inner.items) < 2:
        return None
    member = next(member for member in members(text, largest.start) if member.key == "text")
    slots = [_string_slot(text, member, inner)]
    if "structuredContent" in fields:
        slots += _copy_of_text(text, fields["structuredContent"], member.value, inner)
    return slots, inner


def _size(part: Part) -> int:
    return part.end - part.start


def _copy_of_text(text: str, structured: Part, said: str, inner: Answer) -> list[_Slot]:
    """The slot of structured content that says what the text block says; none if it says another thing."""
    if structured.value == {"result": said}:
        return [_string_slot(text, next(members(text, structured.start)), inner)]
    if isinstance(inner, JsonAnswer) and inner.items:
        value = document(said).value
        if structured.value == value:
            return [_array_slot(text, structured, inner.location)]
        if structured.value == {"result": value}:
            return [_array_slot(text, structured, ("result", *inner.location))]
    return []


def _of_blocks(text: str, fields: Mapping[str, Part], blocks: Sequence[Part]) -> tuple[list[_Slot], Answer]:
    """The blocks as items, and the elements of structured content that say the same one by one."""
    inner = array_at(text, fields["content"], ("content",))
    slots = [_array_slot(text, fields["content"], ())]
    structured = fields.get("structuredContent")
    if structured and _copies(structured.value, blocks):
        slots.append(_array_slot(text, structured, ("result",)))
    return slots, inner


def _copies(value: object, blocks: Sequence[Part]) -> bool:
    """Whether structured content says what the blocks say, one by one."""
    values = value["result"] if isinstance(value, dict) and list(value) == ["result"] else None
    if not isinstance(values, list) or len(values) != len(blocks):
        return False
    return all(_says(block.value, value) for block, value in zip(blocks, values, strict=True))


def _says(block: Mapping[str, Any], value: object) -> bool:
    text = block.get("text")
    if not isinstance(text, str) or text == value:
        return isinstance(text, str)
    try:
        return bool(document(text).value == value)
    except InputError:
        return False


def _string_slot(text: str, string: Part, inner: Answer) -> _Slot:
    escape = _escape_like(text[string.start : string.end], string.value)
    return _Slot(
        string.start,
        string.end,
        lambda items: escape(inner.render(items)),
        lambda item: escape(inner.piece(item))[1:-1],
    )


def _array_slot(text: str, part: Part, location: tuple[str, ...]) -> _Slot:
    """The elements of an array within this part, chosen by the ids of the items."""
    copy = array_within(text[part.start : part.end], location)
    by_id = {item.id: item for item in copy.items}
    return _Slot(
        part.start + len(copy.header),
        part.end - len(copy.footer),
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
