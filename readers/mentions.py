"""How a query is read: the weight of its terms and identifiers, and the files that it names."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.items import Query
from .words import counted, words

# A term of the title weighs this much more; one of the code this part of what it would in prose. Chosen with
# the weights of `hybrid` on the development tasks: eval/results/hybrid_dev/table.md.
TITLE = 2.0
CODE = 0.5

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)  # an issue template's advice to the author
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t][^\n]*", re.MULTILINE)  # its questions
# As in Markdown: between fences, or indented by four; and what was typed at a Python prompt.
_CODE = re.compile(r"(```|~~~).*?(?:\1|\Z)|^(?: {4}|\t|>>>)[^\n]*", re.DOTALL | re.MULTILINE)
_PATH = re.compile(r"[\w./\\+-]+")
# A frame of a Python traceback, and of one as pytest prints it.
_FRAME = re.compile(r'File "([^"\n]+)", line \d+|^[ >]*([^\s:"\'()<>]+\.\w+):\d+:', re.MULTILINE)


def term_weights(query: Query, title: float = TITLE, code: float = CODE) -> dict[str, float]:
    """The weight of each term of a query.

    Prose and code saturate apart, as log2(1 + count), so that a long log or a name that is repeated does
    not drown the rest.

    Example:
        >>> term_weights(Query("Cache is stale"))
        {'cache': 3.0, 'is': 3.0, 'stale': 3.0}
    """
    of_title, prose, of_code = parts(query)
    in_title, in_prose, in_code = counted(of_title), counted(prose), counted(of_code)
    return {
        term: title * (term in in_title)
        + float(np.log2(1 + in_prose[term]))
        + code * float(np.log2(1 + in_code[term]))
        for term in dict.fromkeys((*in_title, *in_prose, *in_code))
    }


def parts(query: Query) -> tuple[str, str, str]:
    r"""The title of a query, its prose and its code, without what an issue template says to the author.

    Example:
        >>> parts(Query("Stale\n\nIt fails:\n\n    cache.get()\n"))
        ('Stale', 'Stale\n\nIt fails:\n\n \n', '    cache.get()')
    """
    text = _COMMENT.sub(" ", query.text)
    prose = _HEADING.sub(" ", _CODE.sub(" ", text))
    return query.title, prose, " ".join(found.group() for found in _CODE.finditer(text))


def name_weights(query: Query) -> dict[str, float]:
    """The weight of each identifier of a query: how often it stands there, how little it reads like prose.

    Example:
        >>> name_weights(Query("QuerySet Model cache"))
        {'QuerySet': 1.0, 'Model': 0.7, 'cache': 0.4}
    """
    times = Counter(word for word in words(_COMMENT.sub(" ", query.text)) if len(word) > 2)
    return {word: specificity(word) * float(np.log2(1 + count)) for word, count in times.items()}


class PathFinder:
    """Finds the files that a text names.

    A name such as ``/site-packages/django/db/models/query.py`` stands for the paths that share most of its
    last parts, and the file's name at least.

    Args:
        paths: of the files, with slashes or backslashes; equal ones are one file, an empty one is none.

    Example:
        >>> finder = PathFinder(["a/x.py", "b/x.py", "b/y.py", "c/y.py"])
        >>> finder.named("see lib/a/x.py and y.py").tolist()
        [1.0, 0.0, 0.5, 0.5]
    """

    def __init__(self, paths: Sequence[str]) -> None:
        files = {path: number for number, path in enumerate(dict.fromkeys(paths))}
        self._file = np.array([files[path] for path in paths], dtype=np.intp)
        self._files = files
        self._longest = 1
        self._called: dict[str, list[str]] = {}  # paths by the name of their file
        self._endings: dict[str, dict[str, list[int]]] = {}  # of those names that were looked for
        for path in filter(None, files):
            parts = _parts(path)
            self._longest = max(self._longest, len(parts))
            self._called.setdefault(parts[-1], []).append(path)

    def named(self, text: str) -> NDArray[np.float64]:
        """1 for a path that is named anywhere, less where a name fits several: they share the 1.

        Returns:
            Shape ``(len(paths),)``, from 0 to 1.
        """
        values = np.zeros(len(self._files))
        for name in dict.fromkeys(_PATH.findall(text)):
            if files := self._find(name.rstrip(".-"), shared=1):
                values[files] = np.maximum(values[files], 1 / len(files))
        return values[self._file]

    def frames(self, text: str) -> NDArray[np.float64]:
        """1 for the innermost frame of a traceback that lies in one of the files, then 1/2, 1/4 and so on.

        A frame must share two parts with a path, so that ``/usr/lib/python3/types.py`` is not ``types.py``.

        Returns:
            Shape ``(len(paths),)``, from 0 to 1.
        """
        values = np.zeros(len(self._files))
        worth = 1.0
        for python, pytest in reversed(_FRAME.findall(text)):
            if files := self._find(python or pytest, shared=2):
                values[files] = np.maximum(values[files], worth / len(files))
                worth /= 2
        return values[self._file]

    def _find(self, name: str, shared: int) -> list[int]:
        """The files whose paths share most last parts with ``name``, at least ``shared`` of them."""
        parts = _parts(name)[-self._longest :]
        endings = self._by_ending(parts[-1])
        for start in range(len(parts) - shared + 1):
            if files := endings.get("/".join(parts[start:])):
                return files
        return []

    def _by_ending(self, name: str) -> dict[str, list[int]]:
        """The files of that name by each end of their paths: few names are ever looked for."""
        if name not in self._endings:
            endings: dict[str, list[int]] = {}
            for path in self._called.get(name, ()):
                parts = _parts(path)
                for start in range(len(parts)):
                    endings.setdefault("/".join(parts[start:]), []).append(self._files[path])
            self._endings[name] = endings
        return self._endings[name]


def path_finder(paths: Sequence[str]) -> PathFinder:
    """The finder of these paths; that of a commit's is made once for all its queries."""
    return _path_finder(tuple(paths))


@lru_cache(maxsize=4)
def _path_finder(paths: tuple[str, ...]) -> PathFinder:
    return PathFinder(paths)


def _parts(path: str) -> list[str]:
    return path.replace("\\", "/").split("/")


def specificity(word: str) -> float:
    """1 for what can only be an identifier, less for what may be a word of prose.

    Example:
        >>> specificity("QuerySet"), specificity("Model"), specificity("cache")
        (1.0, 0.7, 0.4)
    """
    if "_" in word.strip("_") or re.search(r"[a-z][A-Z]|[A-Z]{2}", word):
        return 1.0
    return 0.7 if word[0].isupper() else 0.4
