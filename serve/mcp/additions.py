"""Files that a tool may have missed: what the ranker finds in the commit that is checked out."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from ...core.errors import InputError
from ...core.git import GitStore
from ...core.items import Query
from ...core.values import ValueFunction, evaluate, ranking
from ...readers.blob_index import BlobIndex
from ...readers.candidates import candidate_generators, candidate_items
from ...readers.corpus import Corpus
from ...readers.sources import SOURCES


class Finder:
    """Ranks the files of a work tree's HEAD by a query. All calls must come from one thread.

    Args:
        root: a git work tree, or a folder in one, whose files alone are found then.
        generator: name of a candidate generator.
        function: ranks what is generated.

    Attributes:
        root: that the paths start with which it finds.

    Raises:
        InputError: there is no such generator, or no work tree.
    """

    def __init__(self, root: str, generator: str, function: ValueFunction) -> None:
        self._generator = candidate_generators.create(generator)
        self._function = function
        self.root = str(Path(root))
        self._root = Path(root)
        folder = self._root.resolve()
        top = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
        if top is None:
            raise InputError(f"root: '{root}' is in no git work tree, which candidates are searched in")
        self._below = folder.relative_to(top).as_posix()
        self._top = top
        self._known: Corpus | None = None
        self._opened: tuple[GitStore, BlobIndex] | None = None

    def warm(self) -> None:
        """Indexes the files, so that the first search need not."""
        self._corpus()

    def found(self, query: Query) -> list[str]:
        """Paths in the root, the best first; those without any value are left out."""
        corpus = self._corpus()
        items = candidate_items(corpus, self._generator.candidates(corpus, query))
        values = evaluate(self._function, query, items)
        paths = (str(items[place].path) for place in ranking(values) if values[place] > 0)
        return [path for path in map(self._within, paths) if path]

    def _within(self, path: str) -> str:
        """The path as seen from the root; empty if it is not in there, or no file any more."""
        inner = path if self._below == "." else path.removeprefix(f"{self._below}/")
        is_in = self._below == "." or inner != path
        return str(self._root / inner) if is_in and (self._root / inner).is_file() else ""

    def _corpus(self) -> Corpus:
        if self._opened is None:
            store = GitStore(self._top)
            self._opened = store, BlobIndex(store)
        store, index = self._opened
        commit = store.commit()
        if self._known is None or self._known.commit != commit:
            self._known = index.corpus(commit, SOURCES)
        return self._known


def unlisted(paths: Iterable[str], texts: Sequence[str], root: str, most: int) -> list[str]:
    """The first paths that a result does not name.

    Args:
        paths: as a `Finder` gives them, the best first.
        texts: of the result.
        root: that the paths start with; the result may name them without it.
        most: of them.

    Example:
        >>> unlisted(["/src/a.py", "/src/lib/b.py"], ["lib/b.py:3: cache"], "/src", most=5)
        ['/src/a.py']
    """
    said = "\n".join(texts)
    return list(islice((path for path in paths if not _is_named(path, root, said)), most))


def _is_named(path: str, root: str, said: str) -> bool:
    inner = path.removeprefix(root).lstrip("/")
    if inner not in said:  # quicker than the pattern
        return False
    return re.search(rf"(?<![\w.-]){re.escape(inner)}(?![\w-])", said) is not None


def block_of(paths: Sequence[str]) -> dict[str, str]:
    """The text block that adds files to a page."""
    files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    told = f"[firstpage: {files} that the tool did not list, found by the query in the commit HEAD:]"
    return {"type": "text", "text": "\n".join([told, *paths])}
