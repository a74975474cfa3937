"""The files of one commit, or of one answer, with their words and what they define."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.git import TreeFile
from .bm25 import Postings
from .definitions import definitions
from .history import NO_HISTORY, History
from .occurrences import Occurrences
from .testfiles import is_test
from .words import terms, words

if TYPE_CHECKING:
    from .blob_index import BlobIndex


@dataclass(frozen=True)
class Corpus:
    """The files of one commit, in tree order, or of one answer in its order.

    Args:
        files: their paths and blobs.
        words: which file holds which word.
        terms: how often which file holds which term.
        defined: which file defines which name, and of which kind of `readers.definitions` it is.
        sizes: shape ``(len(files),)``, characters of each.
        ids: numbers of all words and terms, and of some that no file here holds.
        index: that made it, where it is a commit's.
        commit: its name.
    """

    files: Sequence[TreeFile]
    words: Occurrences
    terms: Occurrences
    defined: Occurrences
    sizes: NDArray[np.int64]
    ids: Mapping[str, int]
    index: "BlobIndex | None" = None
    commit: str = ""

    @cached_property
    def paths(self) -> list[str]:
        """Of the files."""
        return [file.path for file in self.files]

    @cached_property
    def history(self) -> History:
        """The commits before and with this one; empty for an answer's corpus."""
        return NO_HISTORY if self.index is None else self.index.history(self.commit)

    @cached_property
    def changes(self) -> tuple[NDArray[np.float64], ...]:
        """How often each file was changed and when, see `History.changes`."""
        return self.history.changes(self.paths)

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Shape ``(len(files),)``, all terms of each file."""
        return self.terms.lengths(len(self.files))

    @cached_property
    def tests(self) -> NDArray[np.bool_]:
        """Shape ``(len(files),)``, which files are tests by their paths."""
        return np.array([is_test(path) for path in self.paths], dtype=np.bool_)

    def definers(self, name: str) -> NDArray[np.intp]:
        """Positions of the files that define a name, tests left out."""
        files = self.defined.text[self.defined.id == self.ids.get(name, 0)]
        return np.asarray(files[~self.tests[files]], dtype=np.intp)

    def containing(self, text: str) -> NDArray[np.intp]:
        """Positions of the files whose content holds ``text``, which is letters, digits and underscores."""
        found = [number for word, number in self.ids.items() if text in word]
        held = np.isin(self.words.id, np.array(found, dtype=np.int32))
        return np.unique(self.words.text[held]).astype(np.intp)

    def postings(self, weights: Mapping[str, float]) -> Postings:
        """Where the terms of a query stand."""
        return self.terms.postings(self.ids, weights, self.lengths)


def corpus_of(paths: Sequence[str], texts: Sequence[str]) -> Corpus:
    """The corpus of texts that are at hand, such as the items of an answer.

    Args:
        paths: of the texts, empty where they have none.
        texts: one a path.

    Example:
        >>> corpus_of(["a.py", "b.py"], ["def get(): ...", "x = get()"]).containing("get").tolist()
        [0, 1]
    """
    ids: dict[str, int] = {}

    def numbered(listed: Iterable[str]) -> NDArray[np.int32]:
        return np.array([ids.setdefault(word, len(ids) + 1) for word in listed], dtype=np.int32)

    def counts(listed: Mapping[str, int]) -> NDArray[np.int32]:
        return np.array(list(listed.values()), dtype=np.int32)

    held, terms, names = zip(*map(facts_of, texts), strict=True) if texts else ((), (), ())
    return Corpus(
        [TreeFile(path, "") for path in paths],
        Occurrences.joined([numbered(one) for one in held]),
        Occurrences.joined([numbered(one) for one in terms], [counts(one) for one in terms]),
        Occurrences.joined([numbered(one) for one in names], [counts(one) for one in names]),
        np.array([len(text) for text in texts], dtype=np.int64),
        ids,
    )


def facts_of(text: str) -> tuple[set[str], Counter[str], dict[str, int]]:
    """The words of a file, less bare numbers, which no keyword is part of; how often each term; its names."""
    counted = Counter(words(text))
    by_term: Counter[str] = Counter()
    for word, count in counted.items():
        for term in terms(word):
            by_term[term] += count
    return {word for word in counted if not word.isdigit()}, by_term, definitions(text)
