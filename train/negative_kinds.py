"""Kinds of hard negatives: files that look like the one that a question is about.

A kind is a function of a question and the place of a file that is its positive; it gives the places of other
files of the parent commit, hardest first. Files that the row changed are never among them.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.items import Query
from ..core.values import ranking
from ..readers.bm25 import length_in_terms, postings
from ..readers.corpus import Corpus
from ..readers.corpus_ranking import rank
from ..readers.mentions import term_weights
from ..readers.words import words
from .cochanges import Cochanges
from .documents import Document, Documents
from .files import kind_of
from .rows import Row
from .similarity import Similarity

_kind = lru_cache(1 << 16)(kind_of)  # asked of all files for each row

POOL = 50  # files that a kind proposes, and of those that BM25 finds, how many the model looks at


class Question:
    """A row before the files of its parent commit.

    Args:
        row: as `history` tells.
        corpus: the files of its parent commit.
        documents: of the repository.
        changed: paths that its commit changed, where more are known than the row names.
        similarity: of the current bi-encoder, if there is one.
        cochanges: of the repository's history.
        seed: of what is drawn by lot.
    """

    def __init__(
        self,
        row: Row,
        corpus: Corpus,
        documents: Documents,
        changed: Iterable[str] = (),
        similarity: Similarity | None = None,
        cochanges: Cochanges | None = None,
        seed: int = 0,
    ) -> None:
        self.row = row
        self.files = corpus.files
        self.places = {file.path: place for place, file in enumerate(corpus.files)}
        self.scores = rank(corpus, Query(row["query"]))
        self.similarity = similarity
        self._documents = documents
        self._changed = {*(file["path"] for file in row["files"]), *row["tests"], *row["beside"], *changed}
        self._cochanges = cochanges
        self._seed = seed
        self._cosines: dict[str, float] = {}

    @cached_property
    def may_be_negative(self) -> NDArray[np.bool_]:
        """Shape ``(files,)``: neither changed, nor a copy of what is, nor vendored or generated."""
        changed = self._changed
        blobs = {self.files[self.places[path]].blob for path in changed if path in self.places}
        return np.array(
            [
                file.path not in changed and file.blob not in blobs and _kind(file.path) != "foreign"
                for file in self.files
            ],
            dtype=np.bool_,
        )

    @cached_property
    def ranked(self) -> list[int]:
        """The places of negatives that share a word with the query, by falling BM25 score."""
        allowed = self.may_be_negative & (self.scores > 0)
        return [int(place) for place in ranking(self.scores) if allowed[place]]

    @cached_property
    def nearest(self) -> list[tuple[int, float]]:
        """Those of the best by BM25, with the cosines of their nearest documents, which fall."""
        pool = [place for place in self.ranked[:POOL] if self.documents(place)]
        each = [self.documents(place) for place in pool]
        self.cosines([document for documents in each for document in documents])  # all in one search
        best = [max(self.cosines(documents)) for documents in each]
        return sorted(zip(pool, best, strict=True), key=lambda one: -one[1])

    def documents(self, place: int) -> Sequence[Document]:
        """Of the file; none if it cannot be read."""
        return self._documents.of(self.files[place])[0]

    def hardest(self, place: int) -> Document | None:
        """The file's document that is nearest to the query by cosine, or by BM25 where there is no model."""
        among = self.documents(place)
        if len(among) < 2:
            return among[0] if among else None
        nearness = self.cosines(among) if self.similarity else self._bm25(among)
        return among[int(np.argmax(nearness))]

    def cosines(self, documents: Sequence[Document]) -> list[float]:
        """Of the query and each document, by the model that there must be."""
        assert self.similarity is not None
        new = [one.text for one in documents if one.text not in self._cosines]
        self._cosines.update(zip(new, self.similarity.cosines(self.row["query"], new).tolist(), strict=True))
        return [self._cosines[one.text] for one in documents]

    def changed_together(self, place: int) -> list[int]:
        """Files that earlier commits changed together with this one, most often first."""
        if self._cochanges is None:
            return []
        paths = self._cochanges.until(self.row["parent"], self.files[place].path)
        return [self.places[path] for path in paths if path in self.places]

    def lot(self, place: int) -> random.Random:
        """The same one for the same row, file and seed."""
        return random.Random(f"{self._seed} {self.row['id']} {self.files[place].path}")

    def _bm25(self, among: Sequence[Document]) -> NDArray[np.float64]:
        listed = [words(one.text) for one in among]
        return postings(self._weights, listed, length=length_in_terms).scores()

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        return term_weights(Query(self.row["query"]))


def by_bm25(question: Question, _: int) -> Iterable[int]:
    """The files that keywords find."""
    return question.ranked


def by_cosine(question: Question, _: int) -> Iterable[int]:
    """The files that the current bi-encoder finds among the best by BM25."""
    return [place for place, _ in question.nearest]


def in_folder(question: Question, positive: int) -> Iterable[int]:
    """The files beside the positive, in an order drawn by lot."""
    folder = _folder(question.files[positive].path)
    beside = [place for place, file in enumerate(question.files) if _folder(file.path) == folder]
    question.lot(positive).shuffle(beside)
    return beside


def changed_together(question: Question, positive: int) -> Iterable[int]:
    """The files that earlier commits changed together with the positive, and this one did not."""
    return question.changed_together(positive)


Kind = Callable[[Question, int], Iterable[int]]
KINDS: Mapping[str, Kind] = {
    "bm25": by_bm25,
    "dense": by_cosine,
    "folder": in_folder,
    "cochanged": changed_together,
}


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
