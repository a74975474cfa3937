"""Commit messages as queries: what reads like a question is kept whole, what keeps books is taken out."""

import re
from itertools import dropwhile

from ..core.commits import asks_nothing, subject_of, without_label, without_trailers

LEAST_WORDS = 4
MOST_CHARACTERS = 20_000  # nobody asks what is longer: a list of a hundred squashed commits

_MERGE = re.compile(
    r"merged? (?:(?:pull|merge) request|pr|mr|(?:remote-tracking )?branch(?:es)?|remote|tag|commit|in"
    r"|\S+ into|[#!]\d)",
    re.IGNORECASE,
)
_TICKET = r"(?:(?:[\w.-]+/[\w.-]+)?(?:[#!]|\bgh-|\bbpo-|\b[A-Z]{2,10}-)\d+|https?://\S+)"
_TICKETS = re.compile(rf"[(\[]?{_TICKET}[)\]]?")
_LAST_TICKETS = re.compile(
    rf"(?:[\s.,;:(\[-]+(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|issue|see)?:?\s*{_TICKET}[)\]]*)+[\s.]*$",
    re.I,
)
_STATE = re.compile(r"\[(?:MRG|WIP)\b[^\]]*\]:?\s*", re.I)
# Lines that tell nothing of the change: "Fixes #12 and #13", "See merge request a/b!4", "- [x] I have …",
# "Original-Commit: 0123abc", "A. Person <person@example.org>".
_BOOKS = re.compile(
    rf"""[\s*•–-]* (?:
        (?: (?:(?:this|pr|commit|pull\ request)\s+)*
            (?:fix(?:e[sd])?|clos(?:e[sd]?|ing)|resolv(?:e[sd]?|ing)|addresse?s?|refs?|references?
            |see(?:\ also)?|part\ of|related(?:\ to)?|follow[\s-]?up\ (?:to|of)|backport\ of
            |issue|ticket|bug|pr|pull\ request)
            [\s:]* (?:issue|ticket|bug|pr)? [\s:]* )?
        (?: (?:{_TICKET}|\#?\d{{2,}}) [\s,;.&]* (?:and\b\s*)? )+
      | see\ merge\ request\b.* | [-=_*]{{3,}} | \[(?:skip\ ci|ci\ skip)\] | -\ \[[\ x]\]\ .* | <!--.*-->
      | (?-i:[A-Z][a-z]+(?:-[A-Za-z]+)+): \s* \S+ | [\w.+\ -]+<[^>\s]+@[^>\s]+>
    ) \s*""",
    re.IGNORECASE | re.VERBOSE,
)
_CONFLICTS = re.compile(r"^#?\s*conflicts:?\n(?:#?[ \t]+\S+(?:\n|\Z))+", re.IGNORECASE | re.MULTILINE)
_MERCURIAL = re.compile(r"^--HG--$.*", re.MULTILINE | re.DOTALL)
_BULLET = re.compile(r"\s*[*•-](?:\s+|$)")
_WORD = re.compile(r"[^\W\d_]{2,}")

# A chore mends nothing: how code looks, what a machine wrote, notes for people, tests. Its subject is one of
# these verbs and fillers, then one of these nouns, then nothing or where: "fix some typos in the parser".
_CHORE_LABEL = re.compile(
    r"\[?(?:chore|style|ci|docs?|build|tests?|typos?|pre-commit\S*|autofix\S*)\b(?:\(.*?\))?!?[\]:]", re.I
)
_SAYS_CHORE = re.compile(
    r"\b(?:typos?|misspell\w*|pep-?8|flake-?8|pyflakes|pyupgrade|isort|autopep8|yapf|automated change"
    r"|re-?format\w* (?:\w+ ){0,2}(?:code|sources?|files?|with|using|by))\b",
    re.I,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CHORE_VERBS = _words("""
    add added adding address adds adjust appease apply change changed clean cleaned cleaning
    cleanup complete convert correct corrected delete document documented drop edit expand extend fix
    fixed fixes fixing format improve improved improves improving make minor more move moved new please
    refactor reformat remove removed removes rename reorder reorganize revise reword run satisfy silence
    simplify small sort sync tidy tweak tweaked tweaks up update updated updates updating upgrade use
    wip write
""")
_CHORE_FILLERS = _words("""
    a all an another automatic bit broken code codebase couple every extra failing few file files
    forgotten import little long lots misc missing module more my obsolete of old our outdated python
    reference references regression several simple some stuff superfluous the these this trailing type
    unit unnecessary unneeded unused various whole
""")
_CHORE_NOUNS = _words("""
    annotation annotations appveyor authors benchmark benchmarks black blank build changelog changes ci
    cleanup cleanups comment comments contributor contributors copyright cosmetic cosmetics coverage
    credits doc docs docstring docstrings doctest doctests documentation example examples f-strings
    feedback fixtures flakes formatter formatting grammar headers hints history import imports indent
    indentation licence license line lines links lint linter linting markup mypy news nit nits notes
    prettier print prints pylint readme refactor refactoring release review ruff space spaces spacing
    spelling sphinx style styling tabs test testcase testcases tests testsuite todo todos tox travis
    typing variable variables version warnings white-space whitespace wording workflow
""")
_CHORE_PLACES = _words("""
    after again and as at by during for from in into of on per since so that to under when with
""")


def query_of(message: str, merge: bool = False) -> tuple[str, str]:
    r"""The query that a message makes, or why it makes none.

    Squash and merge-request messages stay whole but for what keeps books: trailers, tickets alone in a
    line, the heading of a merge, lists of conflicts, bullets that tell of chores or repeat the subject.

    Args:
        message: of a commit.
        merge: whether the commit has several parents.

    Returns:
        The query and an empty reason, or an empty query and the reason: ``merge``, ``asks nothing``,
        ``chore``, ``few words`` or ``long``.

    Example:
        >>> query_of("Keep the cache after a reload (#12)\n\nCloses #7")
        ('Keep the cache after a reload', '')
        >>> query_of("Fixes #12")
        ('', 'few words')
    """
    text = without_trailers(_MERCURIAL.sub("", message.replace("\r", "")))
    if _MERGE.match(text) and (merge or asks_nothing(text)):
        text = _without_books(text.partition("\n")[2])
        if not text:
            return "", "merge"
    if asks_nothing(text):
        return "", "asks nothing"
    text = _without_books(text)
    if is_chore(subject_of(text)):
        return "", "chore"
    if len(_WORD.findall(_TICKETS.sub("", text))) < LEAST_WORDS:
        return "", "few words"
    return (text, "") if len(text) <= MOST_CHARACTERS else ("", "long")


def is_chore(subject: str) -> bool:
    """Whether a subject tells of formatting, documentation, tests or other chores.

    Example:
        >>> is_chore("Fix some typos in it"), is_chore("Update docs for 3.2"), is_chore("Fix test client")
        (True, True, False)
    """
    subject = _TICKETS.sub("", subject)
    if _CHORE_LABEL.match(subject) or _SAYS_CHORE.search(subject):
        return True
    words = re.findall(r"[\w'/-]+", without_label(subject).lower())
    rest = list(dropwhile((_CHORE_VERBS | _CHORE_FILLERS).__contains__, words))
    if not rest:  # "cleanup", "update files", but neither "rename" nor nothing at all
        return bool(words)
    after = list(dropwhile((_CHORE_NOUNS | _CHORE_FILLERS).__contains__, rest))
    return len(after) < len(rest) and (not after or after[0] in _CHORE_PLACES)


def _without_books(text: str) -> str:
    first, *lines = _CONFLICTS.sub("", text).strip().split("\n")
    first = "" if _BOOKS.fullmatch(first) else _LAST_TICKETS.sub("", _STATE.sub("", first))
    kept = [line.rstrip() for line in lines if not line.strip() or not _keeps_books(line, first)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join([first, *kept])).strip()


def _keeps_books(line: str, subject: str) -> bool:
    if _BOOKS.fullmatch(line):
        return True
    if not (bullet := _BULLET.match(line)):
        return False
    said = _LAST_TICKETS.sub("", line[bullet.end() :]).strip()
    return not said or said == subject or asks_nothing(said) or is_chore(said)
