"""The keywords of an issue, as the first-chunk paper draws them for its grep (arXiv 2608.26130)."""

import math
import re
from collections import Counter

from ..core.items import Query

LIMIT = 10

# The boundaries keep a run that starts with a digit, such as a commit's name, from giving its tail.
_IDENTIFIER = re.compile(r"\b[A-Za-z_][A-Za-z0-9_]{2,}\b")
_CAMEL = re.compile(r"[A-Z][a-z]+[A-Z]")

_STOP_WORDS = """
    about above actual actually all also and any are as assert attached back be been being below bug
    bugs but by call called calls came can case cases class classes code come console could description
    did do does down each else error errors even example exception expected fail failed fails few file
    files find fix fixed fixes for found from function get got had has have her here his how if into is
    issue issues it its just know known knows like line lines look looks made make makes many may me
    method methods might more most much must my need no not now object objects one only or other our out
    output over own please raise raised raises report reported reproduce reproducible reproduction run
    same saw see seen set shall should so some step steps such take takes test tests than thanks that
    the their them then there they this three time times too took traceback tried try two under up us
    use used using value values version versions very want wanted was way ways we were what when where
    which who why will with work works would yes you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def keywords(query: Query, limit: int = LIMIT) -> list[str]:
    """The identifiers of a query that are most worth searching for.

    Longer and more frequent identifiers come first, and so do those with humps or underscores; stop words
    and repetitions in another case are left out, equal weights keep the order of first appearance.

    Args:
        query: the question.
        limit: how many at most.

    Returns:
        Identifiers as they are spelt in the query, the weightiest first.

    Example:
        >>> keywords(Query("QuerySet.delete() fails: the delete of a QuerySet needs base_manager"))
        ['base_manager', 'QuerySet', 'delete', 'needs']
    """
    counts = Counter(word for word in _IDENTIFIER.findall(query.text) if word.lower() not in STOP_WORDS)
    best = sorted(counts, key=lambda word: -weight(word, counts[word]))
    first: dict[str, str] = {}
    for word in best:
        first.setdefault(word.lower(), word)
    return list(first.values())[:limit]


def weight(word: str, count: int) -> float:
    """How much an identifier is worth that stands ``count`` times in a query."""
    worth = len(word) * (1 + math.log1p(count))
    if _CAMEL.search(word):
        worth *= 1.5
    if "_" in word:
        worth *= 1.3
    return worth
