r"""The forms of tool answers: each is parsed to items and rendered again from chosen ones.

Example:
    >>> from firstpage.core.formats import parse
    >>> answer = parse("src/a.py:3:import re\nsrc/b.py:9:import re\n")
    >>> answer.form, [item.path for item in answer.items]
    ('hits', ['src/a.py', 'src/b.py'])
    >>> print(answer.render([answer.items[1]], note="[firstpage: 1 of 2 items]"), end="")
    src/b.py:9:import re
    [firstpage: 1 of 2 items]
"""

import contextlib
import difflib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..errors import InputError
from .answer import NOTE, Answer, LinesAnswer
from .diff import looks_like_diff, parse_diff
from .hits import looks_like_hits, parse_hits
from .json_array import looks_like_json, parse_json
from .json_lines import looks_like_json_lines, parse_json_lines
from .markdown import looks_like_markdown, parse_markdown
from .mcp import is_mcp, parse_mcp
from .paragraphs import parse_paragraphs
from .paths import looks_like_paths, parse_paths
from .rg_json import looks_like_rg_json, parse_rg_json

__all__ = ["FORMS", "NOTE", "Answer", "LinesAnswer", "decode", "detect", "encode", "parse"]

FORMS: Mapping[str, Callable[[str], Answer]] = MappingProxyType(
    {
        "mcp": parse_mcp,
        "json": parse_json,
        "rg-json": parse_rg_json,
        "jsonl": parse_json_lines,
        "diff": parse_diff,
        "hits": parse_hits,
        "markdown": parse_markdown,
        "paths": parse_paths,
        "paragraphs": parse_paragraphs,
    }
)

_SAMPLE = 65_536  # characters that tell a form which is not JSON
_SIGNS: Mapping[str, Callable[[str], bool]] = {
    "mcp": looks_like_json,
    "json": looks_like_json,
    "rg-json": looks_like_rg_json,
    "jsonl": looks_like_json_lines,
    "diff": looks_like_diff,
    "hits": looks_like_hits,
    "markdown": looks_like_markdown,
    "paths": looks_like_paths,
}


def parse(text: str, form: str = "auto", *, array: str | None = None) -> Answer:
    """The answer that ``text`` is, in the form named or in the one it looks like.

    Args:
        text: what a tool printed; use `decode` for bytes. A page of firstpage's is fine: its note is
            dropped.
        form: a name in `FORMS`, or ``auto``.
        array: for JSON, the array whose elements are the items: a JSON pointer (``/data/items``) or
            dotted keys (``data.items``).

    Raises:
        InputError: no form has that name, the text is not of the form named, or it has no such array.
    """
    if form != "auto" and form not in FORMS:
        near = difflib.get_close_matches(form.lower(), FORMS, n=1, cutoff=0.5)
        remedy = f"did you mean '{near[0]}'?" if near else f"use auto, {', '.join(FORMS)}"
        raise InputError(f"'{form}' is no form of answer; {remedy}")
    if array is not None:
        return _parse_array(text, form, array)
    return _parse_any(text) if form == "auto" else FORMS[form](text)


def detect(text: str) -> str:
    """The name of the form that ``text`` looks like; ``paragraphs`` if it looks like no other."""
    return parse(text).form


def decode(data: bytes) -> str:
    """The text of ``data``: UTF-8, with bytes that are none kept as lone surrogates for `encode`."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes that `decode` made ``text`` of."""
    return text.encode("utf-8", "surrogateescape")


def _parse_any(text: str) -> Answer:
    """The first form that the text looks like and can be parsed in."""
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE:
        sample = sample[: sample.rfind("\n") + 1] or sample
    for form, is_likely in _SIGNS.items():
        if is_likely(sample):
            with contextlib.suppress(InputError):
                return FORMS[form](text)
    return parse_paragraphs(text)


def _parse_array(text: str, form: str, array: str) -> Answer:
    if form not in {"auto", "mcp", "json"}:
        raise InputError(f"an array is looked for in JSON, not in the form '{form}'; use the form 'json'")
    if form == "mcp" or (form == "auto" and is_mcp(text)):
        return parse_mcp(text, array)
    return parse_json(text, array)
