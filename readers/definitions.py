"""The names that a source file defines, in whatever language, found by how lines begin."""

import re

CLASS, FUNCTION, METHOD, CONSTANT = 1, 2, 3, 4

DEFINED = re.compile(
    r"^(?P<indent>[ \t]*)"
    r"(?:(?:async|export|default|public|private|protected|static|abstract|final|pub|unsafe)[ \t]+)*"
    r"(?P<keyword>def|class|func|fn|function|interface|struct|enum|trait|type)[ \t]+(?:\([^)\n]*\)[ \t]*)?"
    r"(?P<name>\w+)",
    re.MULTILINE,
)
# What a module assigns at its outermost level, such as a setting; one or two letters name nothing.
_ASSIGNED = re.compile(r"^([A-Za-z_]\w{2,})[ \t]*(?::[^=\n]*)?=[^=]", re.MULTILINE)
_FUNCTIONS = {"def", "func", "fn", "function"}


def definitions(text: str) -> dict[str, int]:
    r"""The kind of each name that a file defines; of a name defined twice the one that says most.

    Returns:
        `CLASS`, `FUNCTION`, `METHOD` (a function that is indented) or `CONSTANT` by name.

    Example:
        >>> definitions("LIMIT = 5\nclass Cache:\n    def get(self): ...\ndef clear(): ...\n")
        {'Cache': 1, 'get': 3, 'clear': 2, 'LIMIT': 4}
    """
    kinds: dict[str, int] = {}
    for found in DEFINED.finditer(text):
        indent, keyword, name = found.group("indent", "keyword", "name")
        kind = CLASS if keyword not in _FUNCTIONS else METHOD if indent else FUNCTION
        kinds[name] = min(kind, kinds.get(name, kind))
    for name in _ASSIGNED.findall(text):
        kinds.setdefault(name, CONSTANT)
    return kinds
