"""Mined commits as issues: what a fused ranker is asked is an issue, and a commit's message is not quite one.

An issue tells what goes wrong and often shows code that fails. A commit has both, elsewhere: the release note
that comes with it, and the test. So the query is the message without the lines that tell the answer, then the
note, then a few lines of the test.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence

from ..core.formats.diff import parse_diff
from ..core.git import GitStore
from ..readers.testfiles import is_beside, is_test
from .rows import Row

LEAST_WORDS = 6
MOST_FILES = 3  # of the product; a fix of more is seldom what one issue asks for

_WITH_TEST = 0.65  # of the issues that could show code; about as many issues of SWE-bench do
_TEST_LINES = (12, 25, 40)
_NOTE_LINES = 60
_NOTE_CHARACTERS = 1_500

# Lines of squashed commits: they name the files that were changed, or nothing.
_TELLS = re.compile(
    r"\s*[*-]?\s*(?:(?:Update|Create|Delete|Rename|Apply)\b.{0,60}(?:\.\w+|suggestions from code review)\s*$"
    r"|.*pre-commit\.ci|\[pre-commit|fix(?:es)?(?: tests?| mypy| lint| typo| flake8)?\s*$|.*\bchangelog\b)",
    re.IGNORECASE,
)
_NOTES = re.compile(r"news|changes|changelog|whatsnew|unreleased|release", re.IGNORECASE)
_MARKUP = re.compile(r"^\s*(?:\.\. change::|:tags:.*|:tickets:.*|\.\.)\s*$", re.MULTILINE)


def gold(row: Row) -> list[str]:
    """The files of a row that an issue would be about: neither tests nor beside the product."""
    paths = [file["path"] for file in row["files"]]
    return [path for path in paths if not is_test(path) and not is_beside(path)]


def choose(rows: Iterable[Row], newest: int, most: int, seed: int) -> list[Row]:
    """Rows of one repository that make good issues, the longer ones more likely.

    Args:
        rows: the newest first.
        newest: of them that are looked at.
        most: to choose.
        seed: of the choice.
    """
    rng = random.Random(seed)
    fit = []
    for _, row in zip(range(newest), rows, strict=False):
        length = len(told(row["query"]).split())
        if length >= LEAST_WORDS and 1 <= len(gold(row)) <= MOST_FILES:
            fit.append((-min(length, 40) - 40 * rng.random(), row))
    return [row for _, row in sorted(fit, key=lambda one: one[0])[:most]]


def issue(row: Row, store: GitStore, seed: int) -> str:
    """The query of a row mined from a history, made more like an issue.

    Args:
        row: whose commit the store holds.
        store: of its repository.
        seed: of whether, and how much of, a test is shown; with the row's id it decides.
    """
    rng = random.Random(f"{seed} {row['id']}")
    title, _, body = told(row["query"]).strip().partition("\n")
    added = _added(store.difference(row["parent"], row["commit"]))
    notes = [lines for path, lines in added.items() if _NOTES.search(path) and not path.endswith(".py")]
    note = _MARKUP.sub("", "\n".join(line for lines in notes if len(lines) < _NOTE_LINES for line in lines))
    parts = [title, body.strip(), note.strip()[:_NOTE_CHARACTERS]]
    if rng.random() < _WITH_TEST:
        tests = [lines for path, lines in added.items() if is_test(path) and path.endswith(".py")]
        parts.append(_code([line for lines in tests for line in lines][: rng.choice(_TEST_LINES)]))
    return "\n\n".join(filter(None, parts))


def told(message: str) -> str:
    """A message without the lines that tell the answer or nothing.

    Example:
        >>> told("Keep the cache\\n\\n* Update cache.py\\n* it was lost on exit")
        'Keep the cache\\n\\n* it was lost on exit'
    """
    return "\n".join(line for line in message.split("\n") if not _TELLS.match(line))


def _added(difference: str) -> Mapping[str, Sequence[str]]:
    """The lines that a change adds, by file."""
    added: dict[str, list[str]] = {}
    for file in parse_diff(difference).items:
        lines = file.text.partition("\n@@")[2].split("\n")[1:]
        added[file.path or ""] = [line[1:] for line in lines if line.startswith("+")]
    return added


def _code(lines: Sequence[str]) -> str:
    """Lines as a block of Markdown, without the indentation that they share."""
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    if not indents:
        return ""
    return "```python\n" + "\n".join(line[min(indents) :] for line in lines) + "\n```"
