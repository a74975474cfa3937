"""Makes the examples of a repository's rows: positives, negatives of all kinds, and what is left out."""

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ..core.errors import InputError, RunError
from ..core.git import GitStore
from ..readers.blob_index import BlobIndex
from ..readers.sources import SOURCES
from .changes import commits
from .cochanges import Cochanges
from .documents import FORMS, Document, Documents, changed_document
from .issues import told
from .negative_kinds import KINDS, POOL, Question
from .rows import Row
from .similarity import Similarity

TOP_BM25 = 20  # a positive is found if it is among so many files of the commit by BM25,
TOP_DENSE = 2  # or among so many of the pool by cosine


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the examples of rows depend on, besides the rows and their repositories.

    Args:
        kinds: of negatives, of `negative_kinds.KINDS`; they take turns in this order. Without any, examples
            are pairs and nothing is left out: much faster, for trainers that take negatives from the batch.
        negatives: at most, of an example; >= 1.
        margin: part of the positive's cosine that a dense negative's may reach, above 0; above 1, it may be
            nearer to the query than the positive.
        documents: ``chunks`` or ``outlines``.
        suffixes: endings of the files that can be negatives.
        seed: of what is drawn by lot.

    Raises:
        InputError: one of them is none of these.
    """

    kinds: Sequence[str] = tuple(KINDS)
    negatives: int = 7
    margin: float = 0.95
    documents: str = FORMS[0]
    suffixes: Sequence[str] = SOURCES
    seed: int = 0

    def __post_init__(self) -> None:
        if unknown := [kind for kind in self.kinds if kind not in KINDS]:
            raise InputError(f"there is no kind '{unknown[0]}' of negatives; there are {', '.join(KINDS)}")
        if self.negatives < 1 or not self.margin > 0:
            raise InputError("a recipe takes 1 negative or more, and a margin above 0")
        if self.documents not in FORMS:
            raise InputError(f"there are no documents '{self.documents}'; there are {' and '.join(FORMS)}")


@dataclass
class Tally:
    """What became of a repository's rows.

    Args:
        rows: that were looked at.
        pairs: of a row and a file that it changed.
        examples: that were kept.
        too_near: files that were no dense negatives because of the margin.
        dropped: pairs that made no example, by reason.
        negatives: by kind.
    """

    rows: int = 0
    pairs: int = 0
    examples: int = 0
    too_near: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    negatives: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> "Tally":
        """What `as_json` gave; one of nothing for nothing."""
        counted: dict[str, Any] = {key: Counter(told.get(key, {})) for key in ("dropped", "negatives")}
        return cls(**{**told, **counted})

    def as_json(self) -> dict[str, Any]:
        """Its numbers; reasons and kinds from the most to the least."""
        return {
            "rows": self.rows,
            "pairs": self.pairs,
            "examples": self.examples,
            "too_near": self.too_near,
            "dropped": dict(self.dropped.most_common()),
            "negatives": dict(self.negatives.most_common()),
        }

    def add(self, other: "Tally") -> None:
        """Counts what the other one counted."""
        self.rows += other.rows
        self.pairs += other.pairs
        self.examples += other.examples
        self.too_near += other.too_near
        self.dropped.update(other.dropped)
        self.negatives.update(other.negatives)


class Miner:
    """Makes the examples of one repository's rows.

    Args:
        store: of the repository.
        index: of the same.
        recipe: of the examples.
        similarity: of the bi-encoder, if there is one; what it knows of other repositories is forgotten.
        tally: counts what becomes of each row.
    """

    def __init__(
        self, store: GitStore, index: BlobIndex, recipe: Recipe, similarity: Similarity | None, tally: Tally
    ) -> None:
        self._store = store
        self._index = index
        self._recipe = recipe
        self._similarity = similarity
        self._tally = tally
        self._documents = Documents(store, recipe.documents)
        together = "cochanged" in recipe.kinds
        self._cochanges = Cochanges(commits(store, store.commit())) if together else None
        if similarity is not None:
            similarity.clear()

    def examples(self, row: Row) -> Iterator[Row]:
        """One for each file of the row that makes one; counts all of them."""
        self._tally.rows += 1
        self._tally.pairs += len(row["files"])
        row = {**row, "query": told(row["query"])}
        if not row["query"].strip():
            self._tally.dropped["no text"] += len(row["files"])
        elif self._recipe.kinds:
            yield from self._with_negatives(row)
        else:
            yield from self._pairs(row)

    def _with_negatives(self, row: Row) -> Iterator[Row]:
        question = self._question(row)
        if question is None:
            self._tally.dropped["missing commit"] += len(row["files"])
            return
        changed = [self._documents.of(question.files[place])[0] for place in _changed(question)]
        bodies = {one.body.strip() for documents in changed for one in documents}
        for file in row["files"]:
            positive, reason = self._positive(question, file)
            negatives = self._negatives(question, file["path"], positive, bodies) if positive else []
            if positive is None or not negatives:
                self._tally.dropped[reason or "no negative"] += 1
            else:
                yield self._example(row, positive, negatives)

    def _pairs(self, row: Row) -> Iterator[Row]:
        """Examples without negatives, for which nothing but the files themselves is read."""
        for file in row["files"]:
            found = self._store.file(row["parent"], file["path"])
            documents, reason = self._documents.of(found) if found else ((), "not in the parent commit")
            if documents:
                yield self._example(row, changed_document(documents, file), [])
            else:
                self._tally.dropped[reason] += 1

    def _example(self, row: Row, positive: Document, negatives: Sequence[tuple[str, Document]]) -> Row:
        self._tally.examples += 1
        self._tally.negatives.update(kind for kind, _ in negatives)
        return {
            **{key: row[key] for key in ("source", "id", "repo", "query")},
            "positive": positive.text,
            "negatives": [document.text for _, document in negatives],
            "kinds": [kind for kind, _ in negatives],
        }

    def _question(self, row: Row) -> Question | None:
        try:
            self._store.commit(row["parent"])
        except InputError:
            return None
        corpus = self._index.corpus(row["parent"], self._recipe.suffixes)
        changed = self._changed(row["commit"]) if row["commit"] else []
        return Question(
            row, corpus, self._documents, changed, self._similarity, self._cochanges, self._recipe.seed
        )

    def _changed(self, commit: str) -> list[str]:
        """What a commit changed beside what its row names, such as files that it deleted."""
        try:
            return [change.path for one in commits(self._store, commit, most=1) for change in one.changes]
        except RunError:  # it is not there
            return []

    def _positive(self, question: Question, file: Row) -> tuple[Document | None, str]:
        """The document that the change is about, or why there is none to learn from."""
        place = question.places.get(file["path"])
        if place is None:
            return None, "not in the parent commit"
        documents, reason = self._documents.of(question.files[place])
        if not documents:
            return None, reason
        positive = changed_document(documents, file)
        return (positive, "") if is_found(question, place, positive) else (None, "found by no scorer")

    def _negatives(
        self, question: Question, path: str, positive: Document, bodies: Collection[str]
    ) -> list[tuple[str, Document]]:
        """Negatives with their kinds; the kinds take turns, and each file serves once."""
        place = question.places[path]
        turns = deque((kind, islice(KINDS[kind](question, place), POOL)) for kind in self._recipe.kinds)
        limits = {"dense": self._limit(question, positive)} if self._similarity else {}
        found: dict[int, tuple[str, Document]] = {}
        known = set(bodies)
        while turns and len(found) < self._recipe.negatives:
            kind, places = turns.popleft()
            for other in places:
                if other in found or not question.may_be_negative[other]:
                    continue
                document = question.hardest(other)
                if document is None or document.body.strip() in known:
                    continue
                if kind in limits and question.cosines([document])[0] > limits[kind]:
                    self._tally.too_near += 1
                    continue
                found[other] = kind, document
                known.add(document.body.strip())
                turns.append((kind, places))
                break
        return list(found.values())

    def _limit(self, question: Question, positive: Document) -> float:
        """The cosine above which a document may answer the question as well as the positive."""
        cosine = question.cosines([positive])[0]
        return cosine - (1 - self._recipe.margin) * abs(cosine)


def is_found(question: Question, place: int, positive: Document) -> bool:
    """Whether BM25 finds the file among all, or the model the document among the files of the pool."""
    score = question.scores[place]
    better = (question.scores > score) & question.may_be_negative
    if score > 0 and better.sum() < TOP_BM25:
        return True
    if question.similarity is None:
        return False
    cosine = question.cosines([positive])[0]
    return sum(other > cosine for _, other in question.nearest) < TOP_DENSE


def _changed(question: Question) -> list[int]:
    paths = (file["path"] for file in question.row["files"])
    return [question.places[path] for path in paths if path in question.places]
