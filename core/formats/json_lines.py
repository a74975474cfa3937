"""JSON Lines: one JSON object a line.

An item is a line as it was written. The note is one more object, ``{"firstpage": note}``. Not
significant: blank lines, which are dropped.
"""

import json
from collections.abc import Sequence

from ..errors import InputError
from ..items import Item
from ._json import document, path_in
from ._text import read_lines
from .answer import LinesAnswer
from .note import NOTE


class JsonLinesAnswer(LinesAnswer):
    """JSON objects, one a line."""

    form = "jsonl"

    def render(self, items: Sequence[Item], note: str = "") -> str:
        """The chosen lines, and the note as an object."""
        return super().render(items, note and json.dumps({"firstpage": note}, ensure_ascii=False))


def parse_json_lines(text: str) -> JsonLinesAnswer:
    """The objects in ``text``.

    Raises:
        InputError: a line is no JSON object.
    """
    read = read_lines(text)
    items: list[Item] = []
    value: object = None
    for number, line in enumerate(read.lines, 1):
        if line.strip():
            try:
                value = document(line).value
            except InputError as error:
                raise InputError(f"line {number}: {error}") from None
            if not isinstance(value, dict):
                raise InputError(f"line {number} is no JSON object; use the form 'paragraphs'")
            items.append(Item(str(len(items) + 1), line, metadata=path_in(value)))
    if items and isinstance(value, dict) and _is_note(value):
        items.pop()
    return JsonLinesAnswer(items, separator=read.separator, terminated=read.terminated)


def looks_like_json_lines(sample: str) -> bool:
    """Whether the first line could be an object and there are more."""
    first, _, rest = sample.lstrip().partition("\n")
    return first.startswith("{") and first.rstrip().endswith("}") and rest.lstrip().startswith("{")


def _is_note(value: dict[str, object]) -> bool:
    note = value.get("firstpage")
    return len(value) == 1 and isinstance(note, str) and NOTE.fullmatch(note) is not None
