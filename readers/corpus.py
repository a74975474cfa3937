"""The files of one commit, or of one answer, with their words and what they define."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.git import TreeFile
from .bm25 import Postings
from .definitions import definitions
from .history import NO_HISTORY, History
from .testfiles import is_test
from .words import terms, words

if TYPE_CHECKING:
    from .blob_index import BlobIndex


@dataclass(frozen=True)
class Rows:
    """What is known of each of several files: position of the file and number of the word, one row each.

    Args:
        file: shape ``(m,)``, position of a file.
        id: shape ``(m,)``, number of a word.
        number: shape ``(m,)``, how often the file holds it, or what kind of name it is.
    """

    file: NDArray[np.int32]
    id: NDArray[np.int32]
    number: NDArray[np.int32]

    @classmethod
    def joined(cls, ids: Sequence[NDArray[np.int32]], numbers: Sequence[NDArray[np.int32]]) -> "Rows":
        """Of the rows of each file."""
        owners = np.repeat(np.arange(len(ids), dtype=np.int32), [part.size for part in ids])
        nothing = np.zeros(0, dtype=np.int32)
        return cls(owners, np.concatenate([nothing, *ids]), np.concatenate([nothing, *numbers]))


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
    words: Rows
    terms: Rows
    defined: Rows
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
    def lengths(self) -> NDArray[np.float64]:
        """Shape ``(len(files),)``, all terms of each file."""
        return np.bincount(self.terms.file, self.terms.number, len(self.files)).astype(np.float64)

    @cached_property
    def tests(self) -> NDArray[np.bool_]:
        """Shape ``(len(files),)``, which files are tests by their paths."""
        return np.array([is_test(path) for path in self.paths], dtype=np.bool_)

    def definers(self, name: str) -> NDArray[np.intp]:
        """Positions of the files that define a name, tests left out."""
        files = self.defined.file[self.defined.id == self.ids.get(name, 0)]
        return np.asarray(files[~self.tests[files]], dtype=np.intp)

    def containing(self, text: str) -> NDArray[np.intp]:
        """Positions of the files whose content holds ``text``, which is letters, digits and underscores."""
        found = [number for word, number in self.ids.items() if text in word]
        held = np.isin(self.words.id, np.array(found, dtype=np.int32))
        return np.unique(self.words.file[held]).astype(np.intp)

    def postings(self, weights: Mapping[str, float]) -> Postings:
        """Where the terms of a query stand."""
        held, column = self.columns(self.terms, list(weights))
        return Postings(
            self.terms.file[held].astype(np.intp),
            column,
            self.terms.number[held].astype(np.float64),
            self.lengths,
            np.array(list(weights.values()), dtype=np.float64),
        )

    def columns(self, rows: Rows, asked: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which rows hold one of some words, and the position among them of the one each holds."""
        column = np.full(int(rows.id.max(initial=0)) + 1, -1, dtype=np.intp)  # by number of a word
        for place, word in enumerate(asked):
            if (number := self.ids.get(word, column.size)) < column.size:
                column[number] = place
        of_row = column[rows.id]
        held = np.flatnonzero(of_row >= 0)
        return held, of_row[held]


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

    def numbered(listed: Mapping[str, int] | set[str]) -> NDArray[np.int32]:
        return np.array([ids.setdefault(word, len(ids) + 1) for word in listed], dtype=np.int32)

    held, counted, defined = [], [], []
    for text in texts:
        facts = facts_of(text)
        held.append((numbered(facts[0]), np.zeros(len(facts[0]), np.int32)))
        counted.append((numbered(facts[1]), np.array(list(facts[1].values()), np.int32)))
        defined.append((numbered(facts[2]), np.array(list(facts[2].values()), np.int32)))
    words_of, terms_of, names_of = (
        Rows.joined([one for one, _ in each], [two for _, two in each]) for each in (held, counted, defined)
    )
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    return Corpus([TreeFile(path, "") for path in paths], words_of, terms_of, names_of, sizes, ids)


def facts_of(text: str) -> tuple[set[str], Counter[str], dict[str, int]]:
    """The words of a file, less bare numbers, which no keyword is part of; how often each term; its names."""
    counted = Counter(words(text))
    by_term: Counter[str] = Counter()
    for word, count in counted.items():
        for term in terms(word):
            by_term[term] += count
    return {word for word in counted if not word.isdigit()}, by_term, definitions(text)
