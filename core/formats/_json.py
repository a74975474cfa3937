"""Where the parts of a JSON text stand in it, so that they can be kept as they were written."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import InputError
from ._names import is_file_like, lookup_path

BLANK = " \t\n\r"
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class Part(NamedTuple):
    """A member of an object or an element of an array.

    Attributes:
        key: of a member; empty for an element.
        value: decoded.
        start: of the value in the text.
        end: position after the value.
        begin: of the whole in the text: of the key, or of the element.
    """

    key: str
    value: Any
    start: int
    end: int
    begin: int


def document(text: str) -> Part:
    """The only value of ``text``.

    Raises:
        InputError: the text is not one JSON value, or is nested too deeply to decode.
    """
    start = skip(text, 0)
    try:
        value, end = _DECODER.raw_decode(text, start)
        if skip(text, end) < len(text):
            raise json.JSONDecodeError("extra data", text, skip(text, end))
    except json.JSONDecodeError as error:
        raise InputError(
            f"the text is no JSON value: {error.msg} in line {error.lineno}, column {error.colno}; "
            "give the whole answer or another form"
        ) from None
    except (RecursionError, ValueError) as error:
        reason = (
            "nested too deeply" if isinstance(error, RecursionError) else "has a number with too many digits"
        )
        raise InputError(f"the JSON is {reason} to be read; use the form 'paragraphs'") from None
    return Part("", value, start, end, start)


def skip(text: str, at: int) -> int:
    """The position of the first character at or after ``at`` that is not white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def members(text: str, at: int) -> Iterator[Part]:
    """The members of the object at ``at``, in a text that `document` has read."""
    at = skip(text, at + 1)
    while text[at] == '"':
        begin = at
        key, at = _DECODER.raw_decode(text, at)
        at = skip(text, skip(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        yield Part(key, value, at, end, begin)
        at = skip(text, end)
        if text[at] == ",":
            at = skip(text, at + 1)


def elements(text: str, at: int) -> Iterator[Part]:
    """The elements of the array at ``at``, in a text that `document` has read."""
    at = skip(text, at + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield Part("", value, at, end, at)
        at = skip(text, end)
        if text[at] == ",":
            at = skip(text, at + 1)


def path_in(value: object, key: str = "") -> dict[str, str]:
    """Metadata of a decoded item: the path, which is its key or stands under one that tools use for it."""
    if key and is_file_like(key):
        return {"path": lookup_path(key)}
    if isinstance(value, dict):
        for name in ("path", "file", "filename", "file_path"):
            if isinstance(value.get(name), str):
                return {"path": value[name]}
    return {}
