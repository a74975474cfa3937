"""A tool's result whose text is of a form that the configuration names."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.errors import InputError
from ...core.formats import Answer, parse
from ...core.items import Item
from .messages import dumps, has_utf8


class FormedAnswer(Answer):
    """The longest text of a result in the form named, with the rest of the result around it.

    A member of the structured content that is the same text is reduced with it.

    Args:
        result: of the tool.
        form: of the text.

    Raises:
        InputError: it has no text, or one that is not of the form.
    """

    form = "mcp"

    def __init__(self, result: Mapping[str, Any], form: str) -> None:
        texts = {place: block["text"] for place, block in enumerate(result["content"]) if _is_text(block)}
        if not texts:
            raise InputError("the result has no text; leave the form to auto")
        self._result = result
        self._place = max(texts, key=lambda place: len(texts[place]))
        text = texts[self._place]
        structured = result.get("structuredContent")
        members = structured if isinstance(structured, dict) else {}
        self._copies = [key for key, value in members.items() if value == text]
        self._ascii = not has_utf8(text)
        self._inner = parse(text, form)
        if not self._inner.items:
            raise InputError("the text has no items in this form; leave it to auto")
        self.items, self.largest = self._inner.items, self._inner.largest
        self.header, self.footer = self.render([]), ""

    def render(self, items: Sequence[Item], note: str = "") -> str:
        """The result with these items; the note is a text block at the end of the content."""
        text = self._inner.render(items)
        content = list(self._result["content"])
        content[self._place] = content[self._place] | {"text": text}
        if note:
            content.append({"type": "text", "text": note})
        page = {**self._result, "content": content}
        if self._copies:
            page["structuredContent"] = page["structuredContent"] | dict.fromkeys(self._copies, text)
        return dumps(page)

    def piece(self, item: Item) -> str:
        """What the item adds in the text and in its copies, escaped."""
        written = json.dumps(self._inner.piece(item), ensure_ascii=self._ascii)[1:-1]
        return written * (1 + len(self._copies))

    def split(self, item: Item) -> list[Item]:
        """The parts of an item."""
        return self._inner.split(item)


def _is_text(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
