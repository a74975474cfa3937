"""The file that a line with other columns is about: ``git ls-tree``, ``git diff --stat``, ``ls -l``."""

import re
from collections.abc import Sequence

from ._names import lookup_path

STAT = re.compile(r" (?P<name>\S+(?: +(?!\|)\S+)*) +\| +(?:\d+(?: [+-]*)?|Bin\b.*|Unmerged)\r?\Z")
STAT_SUM = re.compile(r" \d+ files? changed(?:, \d+ (?:insertion|deletion)s?\([+-]\))*\r?\Z")

_DATE = r"(?:[A-Z][a-z]{2} +\d+ +[\d:]+|\d{4}-\d\d-\d\d +\d\d:\d\d(?::[\d.]+ [+-]\d{4})?)"
_TREE = re.compile(r"\d{6} (?:(?:blob|tree|commit) )?[0-9a-f]{7,64}(?: +[\d-]+)?(?: \d)?\t(?P<name>.+)")
_STATUS = re.compile(r"[ACDMRTUXB]\d{0,3}\t(?:[^\t]+\t)?(?P<name>[^\t]+)")  # --name-status
_NUMBERS = re.compile(r"(?:\d+|-)\t(?:\d+|-)\t(?P<name>.+)")  # --numstat
_LONG = re.compile(  # ls -l
    rf"[-dlcbps][-rwxsStT]{{9}}[.+@]? +\d+ +\S+ +\S+ +[\d,.]+[KMGT]? +{_DATE} (?P<name>.+?)(?: -> .+)?"
)
_SHORT = re.compile(r"(?=\S| \S)[ MADRCUT?!]{2} (?:.+ -> )?(?P<name>\S.*)")  # status --short
_COUNT = re.compile(r" *\d[\d.]*[KMGT]?(?:[ \t]+\d+)*[ \t]+(?P<name>\S.*)")  # wc, du
_COLUMNS = (_TREE, _STATUS, _NUMBERS, STAT, _LONG, _SHORT, _COUNT)
LOOSE = frozenset({_SHORT, _COUNT})  # what fits these may be other text as well
_RENAMED = re.compile(r"\{[^{}]* => ([^{}]*)\}")
_SAMPLE = 400


def columns_of(lines: Sequence[str]) -> re.Pattern[str] | None:
    """The columns that nine of ten of these lines have around a name; None if they have no known ones."""
    sample = [line for line in lines[:_SAMPLE] if line.strip()]
    fitting = ((sum(1 for line in sample if columns.fullmatch(line)), columns) for columns in _COLUMNS)
    return next((columns for count, columns in fitting if count and 10 * count >= 9 * len(sample)), None)


def stat_path(line: str) -> dict[str, str]:
    """Metadata of a line of ``--stat``: its path, unless it is the sum."""
    found = STAT.match(line)
    return {"path": named(found["name"])} if found else {}


def named(name: str) -> str:
    """The path that is meant by a name in columns, the new one where it was renamed: ``a/{b => c}/d``."""
    if " => " in name:
        name = _RENAMED.sub(r"\1", name).replace("//", "/") if "{" in name else name.partition(" => ")[2]
    return lookup_path(name.strip())
