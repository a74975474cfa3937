"""What JSON can carry and an answer cannot: halves of surrogate pairs, infinite numbers, endless nests."""

import math
import re
from typing import Any

from pydantic_core import PydanticCustomError

_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair, which UTF-8 cannot carry
_DEEPEST = 100  # of what a document carries besides its text; more than anybody needs


def whole(text: Any) -> Any:
    """Text with U+FFFD for each half of a surrogate pair; anything else as it is."""
    return _HALF.sub("\ufffd", text) if isinstance(text, str) else text


def carried(given: dict[Any, Any]) -> dict[Any, Any]:
    """An object that can be given back as JSON, with its texts whole.

    It goes without recursion, as clients nest as deep as they like.

    Raises:
        PydanticCustomError: it holds a number that is not finite, or is nested too deep.
    """
    kept = {whole(key): value for key, value in given.items()}
    waiting: list[tuple[Any, int]] = [(kept, 1)]
    while waiting:
        one, depth = waiting.pop()
        if depth > _DEEPEST:
            raise PydanticCustomError("deep", f"must not be nested more than {_DEEPEST} deep")
        for place, value in list(one.items() if isinstance(one, dict) else enumerate(one)):
            if isinstance(value, dict):
                one[place] = {whole(key): inner for key, inner in value.items()}
            elif isinstance(value, float) and not math.isfinite(value):
                raise PydanticCustomError("infinite", "must hold finite numbers alone")
            else:
                one[place] = whole(value)
            if isinstance(value, dict | list):
                waiting.append((one[place], depth + 1))
    return kept
