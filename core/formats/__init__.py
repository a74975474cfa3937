r"""The forms of tool answers: each is parsed to items and rendered again from chosen ones.

Example:
    >>> from firstpage.core.formats import parse
    >>> answer = parse("src/a.py:3:import re\nsrc/b.py:9:import re\n")
    >>> answer.form, [item.path for item in answer.items]
    ('hits', ['src/a.py', 'src/b.py'])
    >>> print(answer.render([answer.items[1]], note="1 of 2 items"), end="")
    src/b.py:9:import re
    1 of 2 items
"""

import codecs
import contextlib
import difflib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..errors import InputError
from .answer import Answer, LinesAnswer, MarkedAnswer
from .diff import looks_like_diff, parse_diff
from .hits import looks_like_hits, parse_hits
from .json_array import looks_like_json, parse_json
from .json_lines import looks_like_json_lines, parse_json_lines
from .log import looks_like_log, parse_log
from .markdown import looks_like_markdown, parse_markdown
from .mcp import is_mcp, parse_mcp
from .note import NOTE
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
        "log": parse_log,
        "diff": parse_diff,
        "hits": parse_hits,
        "markdown": parse_markdown,
        "paths": parse_paths,
        "paragraphs": parse_paragraphs,
    }
)

_SOUGHT = frozenset({"log", "diff", "hits", "markdown"})  # of other forms is any text, or it is an error
_MARK = "\ufeff"  # of the byte order
_SAMPLE = 65_536  # characters that tell a form which is not JSON
_SIGNS: Mapping[str, Callable[[str], bool]] = {
    "mcp": looks_like_json,
    "json": looks_like_json,
    "rg-json": looks_like_rg_json,
    "jsonl": looks_like_json_lines,
    "log": looks_like_log,
    "diff": looks_like_diff,
    "hits": looks_like_hits,
    "markdown": looks_like_markdown,
    "paths": looks_like_paths,
}


def parse(text: str, form: str = "auto", *, array: str | None = None) -> Answer:
    """The answer that ``text`` is, in the form named or in the one it looks like.

    Args:
        text: what a tool printed; use `decode` for bytes. A page of firstpage's is fine: its note is
            dropped. A byte order mark is kept at the start of every page.
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
    if text.startswith(_MARK):
        return MarkedAnswer(_MARK, parse(text.removeprefix(_MARK), form, array=array))
    if array is not None:
        return _parse_array(text, form, array)
    return _parse_any(text) if form == "auto" else _parse_named(text, form)


def detect(text: str) -> str:
    """The name of the form that ``text`` looks like; ``paragraphs`` if it looks like no other."""
    return parse(text).form


def decode(data: bytes) -> str:
    """The text of ``data``: UTF-8, with bytes that are none kept as lone surrogates for `encode`.

    Data that starts with the byte order mark of UTF-16 and is such is read so, and its pages are UTF-8.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode("utf-16")
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes that `decode` made ``text`` of, or, where they were UTF-16, the same text in UTF-8."""
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


def _parse_named(text: str, form: str) -> Answer:
    """The text in the form named; not one that has nothing of it, which would be a header and no items."""
    answer = FORMS[form](text)
    if form in _SOUGHT and not answer.items and text.strip() and not NOTE.search(text):
        likely = detect(text)
        if (form, likely) == ("markdown", "paragraphs"):  # Markdown may have neither tables nor lists
            return parse_paragraphs(text)
        if likely != form and (form, likely) != ("hits", "paths"):  # headings may have no hits under them
            raise InputError(
                f"this is no answer in the form '{form}'; it looks like '{likely}', use that or auto"
            )
    return answer


def _parse_array(text: str, form: str, array: str) -> Answer:
    if form not in {"auto", "mcp", "json"}:
        raise InputError(f"an array is looked for in JSON, not in the form '{form}'; use the form 'json'")
    if form == "mcp" or (form == "auto" and is_mcp(text)):
        return parse_mcp(text, array)
    return parse_json(text, array)
