"""What ``rg --json`` prints: a message a line, from ``begin`` to ``end`` for each file with hits.

An item is a file with all its messages, or, when split, one match with the context lines around it
between the file's ``begin`` and ``end``. Messages after the last file (the summary) are the footer.
The note is a message ``{"type":"firstpage","data":{"text":note}}``. Not significant: blank lines, which
are dropped; a file whose ``end`` is cut off is an item all the same.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError
from ..items import Item
from ._json import document
from ._names import lookup_path
from ._text import read_lines
from .answer import LARGEST_HIT, LinesAnswer
from .note import NOTE

_TYPE = re.compile(r'\{"type":"(begin|match|context|end|summary|firstpage)"')


class RgJsonAnswer(LinesAnswer):
    """Messages of ripgrep, by file.

    Args:
        ends: the ``end`` message of a file by its ``begin`` message.
        others: arguments of `LinesAnswer`.
    """

    form = "rg-json"
    largest = LARGEST_HIT

    def __init__(self, ends: Mapping[str, str], *others: Any) -> None:
        super().__init__(*others)
        self.ends = ends

    def render(self, items: Sequence[Item], note: str = "") -> str:
        """The chosen messages, and the note as one more."""
        return super().render(items, note and _NOTE_START + json.dumps(note, ensure_ascii=False) + "}}")

    def below(self, within: str) -> str:
        """The ``end`` message of the file whose ``begin`` is ``within``."""
        return f"{self.ends[within]}{self.separator}" if within in self.ends else ""

    def split(self, item: Item) -> list[Item]:
        """The single matches of a file; empty if there is only one."""
        if "within" in item.metadata:
            return []
        begin, *messages = item.text.split(self.separator)
        if messages and _type(messages[-1]) == "end":
            messages.pop()
        return _matches(item, begin, messages, self.separator)


_NOTE_START = '{"type":"firstpage","data":{"text":'


def parse_rg_json(text: str) -> RgJsonAnswer:
    """The files in ``text``.

    Raises:
        InputError: a line is no message of ripgrep.
    """
    read = read_lines(text)
    blocks: list[list[str]] = []
    loose: list[str] = []
    header: list[str] = []
    for number, line in enumerate(read.lines, 1):
        kind = _type(line, number)
        if kind == "begin":
            if blocks:
                blocks[-1] += loose
            else:
                header = loose
            loose = []
            blocks.append([line])
        elif kind in {"match", "context", "end"} and blocks:
            blocks[-1].append(line)
        elif kind and not _is_note(kind, line):
            loose.append(line)
    if not blocks:
        header, loose = loose, []
    ends = {block[0]: block[-1] for block in reversed(blocks) if _type(block[-1]) == "end"}
    items = [_item(str(place), block, read.separator) for place, block in enumerate(blocks, 1)]
    parts = ("".join(f"{line}{read.separator}" for line in lines) for lines in (header, loose))
    return RgJsonAnswer(ends, items, *parts, read.separator, read.terminated)


def looks_like_rg_json(sample: str) -> bool:
    """Whether the first line opens a file."""
    return sample.lstrip().startswith('{"type":"begin"')


def _type(line: str, number: int = 0) -> str:
    """The type of a message; empty for a blank line."""
    known = _TYPE.match(line)
    if known:
        return known[1]
    if not line.strip():
        return ""
    value = document(line).value if line.lstrip().startswith("{") else None
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise InputError(f"line {number} is no message of rg --json; use the form 'jsonl' or 'paragraphs'")
    kind: str = value["type"]
    return kind


def _is_note(kind: str, line: str) -> bool:
    if kind != "firstpage":
        return False
    data = document(line).value.get("data")
    return isinstance(data, dict) and NOTE.fullmatch(str(data.get("text"))) is not None


def _item(place: str, messages: Sequence[str], separator: str) -> Item:
    metadata: dict[str, Any] = _path(messages[0])
    first = next((message for message in messages if _type(message) == "match"), None)
    return Item(place, separator.join(messages), metadata=metadata | _line(first))


def _matches(item: Item, begin: str, messages: Sequence[str], separator: str) -> list[Item]:
    """Each match with the lines that follow it without a gap, and with those before it up to a gap."""
    runs: list[list[str]] = [[]]
    has_match, last = False, 0
    for message in messages:
        is_match, number = _type(message) == "match", _line(message).get("line", 0)
        if has_match and (is_match or number != last + 1):
            runs.append([])
            has_match = False
        runs[-1].append(message)
        has_match, last = has_match or is_match, number
    if not has_match and len(runs) > 1:
        after = runs.pop()
        runs[-1] += after
    if len(runs) < 2:
        return []
    shared = {**item.metadata, "within": (begin,)}
    return [
        Item(
            f"{item.id}.{place}",
            separator.join(run),
            metadata=shared | _line(next(message for message in run if _type(message) == "match")),
        )
        for place, run in enumerate(runs, 1)
    ]


def _path(begin: str) -> dict[str, Any]:
    data = document(begin).value.get("data")
    path = data.get("path") if isinstance(data, dict) else None
    if not isinstance(path, dict):
        return {}
    if isinstance(path.get("text"), str):
        return {"path": lookup_path(path["text"])}
    try:
        raw = base64.b64decode(str(path.get("bytes")), validate=True)
    except binascii.Error:
        return {}
    return {"path": lookup_path(raw.decode("utf-8", "surrogateescape"))}


def _line(match: str | None) -> dict[str, int]:
    data = document(match).value.get("data") if match else None
    number = data.get("line_number") if isinstance(data, dict) else None
    return {"line": number} if isinstance(number, int) else {}
