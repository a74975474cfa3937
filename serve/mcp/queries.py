"""The query of a tool call: what its arguments look for, and what the conversation is about."""

from collections.abc import Iterator, Mapping
from typing import Any

from ...core.items import Query

GOAL_KEY = "firstpage/goal"  # of the `_meta` of a call, where a client tells the conversation's goal

# The names of arguments that say what is looked for, as search tools have them; the plainest first.
_SOUGHT = (
    "query", "q", "search", "search_query", "searchquery", "pattern", "regex", "regexp", "keyword",
    "keywords", "term", "terms", "text", "question", "symbol", "name_pattern", "namepattern", "glob",
)  # fmt: skip
_SHORT = 400  # characters of any other argument that may say something; a longer one is a body
_LONGEST = 4_000  # characters of each that are read


def query_of(arguments: Any, goal: str) -> Query:
    """What the items of a tool's result are judged by.

    Args:
        arguments: of the call. Texts under names such as ``query`` or ``pattern`` count, or else all
            short ones.
        goal: of the conversation; empty if it is not known.

    Example:
        >>> query_of({"path": "/src", "pattern": "cache"}, "The cache is stale.").text
        'cache\\nThe cache is stale.'
        >>> query_of({"paths": ["/src/cache.py", "/src/disk.py"], "head": 3}, "").text
        '/src/cache.py /src/disk.py'
    """
    named = arguments if isinstance(arguments, Mapping) else {}
    by_name = {str(name).lower(): value for name, value in named.items()}
    sought = [text for name in _SOUGHT if name in by_name for text in _texts(by_name[name])]
    texts = sought or [text for text in _texts(named) if len(text) <= _SHORT]
    asked = " ".join(dict.fromkeys(" ".join(text[:_LONGEST].split()) for text in texts))
    return Query("\n".join(part for part in (asked, goal.strip()) if part))


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value, however nested; without recursion, which a client could make too deep."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += reversed(list(one.values()))
        elif isinstance(one, list):
            waiting += reversed(one)
