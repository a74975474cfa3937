"""Words, terms and keywords: how queries, paths and code are read by every lexical reader."""

import re
from collections import Counter
from functools import lru_cache

WORD = re.compile(r"\w+")
# Humps of an identifier: HTTPServer gives HTTP and Server; digits stay with what precedes them.
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\WA-Z_]+|[A-Z]+[0-9]*|[0-9]+")


def words(text: str) -> list[str]:
    """The maximal runs of letters, digits and underscores, case kept, in order."""
    return WORD.findall(text)


@lru_cache(maxsize=1 << 18)
def terms(word: str) -> tuple[str, ...]:
    """What a word is indexed under: its parts at underscores and case, and itself, in lower case.

    Example:
        >>> terms("get_QuerySet")
        ('get', 'query', 'set', 'get_queryset')
    """
    parts = [part.lower() for part in _HUMP.findall(word)]
    whole = word.lower()
    return tuple(dict.fromkeys((*parts, whole)))


def shown(text: str) -> str:
    """A text as tokenizers take it: without half a surrogate pair, which stands for a byte of no text."""
    return text.encode("utf-8", "replace").decode("utf-8")


def counted(text: str) -> Counter[str]:
    """How often each term stands in a text, in order of first appearance.

    Example:
        >>> counted("a cache, a Cache_key")
        Counter({'a': 2, 'cache': 2, 'key': 1, 'cache_key': 1})
    """
    return Counter(term for word in words(text) for term in terms(word))
