"""Candidate generators: which files of a commit a query may be about.

A generator ranks or filters the files of a `Corpus`, which already knows the words of every file: only the
bi-encoder's reads files, each once.
"""

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.items import Item, Query
from ..core.registry import Registry
from ..core.values import ranking
from . import shipped
from .bi_encoder import BiEncoder
from .corpus import Corpus
from .corpus_ranking import demoted_scores, rank
from .keywords import keywords
from .mentions import term_weights
from .signals import named_files

LIMIT = 50  # candidates of one generator, as in the paper
_BATCH = 256  # files whose contents are in memory at once


class CandidateGenerator(Protocol):
    """Proposes files of a commit.

    Attributes:
        name: as registered.
    """

    name: str

    def candidates(self, corpus: Corpus, query: Query, limit: int = LIMIT) -> NDArray[np.intp]:
        """Positions in ``corpus.files``, none twice, in the generator's order.

        At most ``limit``; a union of generators gives at most ``limit`` of each, `Wide` twice that of BM25.
        """
        ...


class Grep:
    """Fixed-string search for the query's keywords, as in the first-chunk paper (section 4.1).

    The files that hold all of the first three keywords, those left out that no file holds; else the same
    of the first two; else the files that hold any of the ten, keyword by keyword; else all files.
    """

    name = "grep"

    def candidates(self, corpus: Corpus, query: Query, limit: int = LIMIT) -> NDArray[np.intp]:
        """Positions in tree order, or by keyword and then in tree order; cut at ``limit``."""
        lists = [corpus.containing(keyword) for keyword in keywords(query)]
        found = _common(lists[:3])
        if not found.size:
            found = _common(lists[:2])
        if not found.size:
            found = np.array(list(dict.fromkeys(place for one in lists for place in one.tolist())), np.intp)
        if not found.size:
            found = np.arange(len(corpus.files))
        return found[:limit]


class RankedCorpus:
    """The best files by BM25 over contents and paths, test files demoted."""

    name = "bm25"

    def candidates(self, corpus: Corpus, query: Query, limit: int = LIMIT) -> NDArray[np.intp]:
        """Positions by falling score; files without any word of the query are left out."""
        return _best(rank(corpus, query), limit)


class Named:
    """The files whose modules or definitions the query names, the rarest names first; tests demoted."""

    name = "names"

    def candidates(self, corpus: Corpus, query: Query, limit: int = LIMIT) -> NDArray[np.intp]:
        """Positions by falling score."""
        return _best(demoted_scores(named_files(query, corpus), query, corpus), limit)


class Past:
    """The files that commits changed whose messages read like the query; tests demoted."""

    name = "history"

    def candidates(self, corpus: Corpus, query: Query, limit: int = LIMIT) -> NDArray[np.intp]:
        """Positions by falling score."""
        votes, _ = corpus.history.votes(term_weights(query), corpus.paths)
        return _best(demoted_scores(votes, query, corpus), limit)


class Dense:
    """The files whose chunks are nearest to the query's title for the bi-encoder; tests demoted.

    Every file of the commit is embedded once, which of thousands takes a minute or so the first time.

    Args:
        folder: of the encoder's weights; the package brings one.
    """

    name = "dense"

    def __init__(self, folder: Path = shipped.ENCODER) -> None:
        self._encoder = BiEncoder(folder)

    def candidates(self, corpus: Corpus, query: Query, limit: int = LIMIT) -> NDArray[np.intp]:
        """Positions by falling cosine."""
        values = np.zeros(len(corpus.files))
        for start in range(0, len(values), _BATCH):
            places = range(start, min(start + _BATCH, len(values)))
            values[start : start + _BATCH] = self._encoder.values(query, candidate_items(corpus, places))
        return _best(demoted_scores(values, query, corpus), limit)


class Union:
    """What BM25 finds, then what grep finds beyond it: up to twice ``limit`` candidates."""

    name = "union"

    def candidates(self, corpus: Corpus, query: Query, limit: int = LIMIT) -> NDArray[np.intp]:
        """Positions, those of BM25 first."""
        ranked = RankedCorpus().candidates(corpus, query, limit)
        return _joined(ranked, Grep().candidates(corpus, query, limit))


class Wide:
    """What BM25 finds, then what grep, history and names find beyond it: for a ranker that tells them apart.

    Of BM25 it takes twice the limit, of history and names two fifths each: up to four times as many together.
    """

    name = "wide"

    def candidates(self, corpus: Corpus, query: Query, limit: int = LIMIT) -> NDArray[np.intp]:
        """Positions, those of BM25 first."""
        few = max(1, limit * 2 // 5)
        return _joined(
            RankedCorpus().candidates(corpus, query, 2 * limit),
            Grep().candidates(corpus, query, limit),
            Past().candidates(corpus, query, few),
            Named().candidates(corpus, query, few),
        )


class Everything(Dense):
    """What `Wide` finds, then what the bi-encoder finds beyond it, to see how much that is."""

    name = "everything"

    def candidates(self, corpus: Corpus, query: Query, limit: int = LIMIT) -> NDArray[np.intp]:
        """Positions, those of `Wide` first."""
        return _joined(Wide().candidates(corpus, query, limit), super().candidates(corpus, query, limit))


candidate_generators: Registry[CandidateGenerator] = Registry(
    "firstpage.candidate_generators",
    "candidate generator",
    {
        "grep": "firstpage.readers.candidates:Grep",
        "bm25": "firstpage.readers.candidates:RankedCorpus",
        "union": "firstpage.readers.candidates:Union",
        "names": "firstpage.readers.candidates:Named",
        "history": "firstpage.readers.candidates:Past",
        "dense": "firstpage.readers.candidates:Dense",
        "wide": "firstpage.readers.candidates:Wide",
        "everything": "firstpage.readers.candidates:Everything",
    },
    trained={
        "dense": "firstpage.readers.candidates:Dense",
        "everything": "firstpage.readers.candidates:Everything",
    },
    unlisted=() if shipped.readable() else ("dense", "everything"),
)


def candidate_items(corpus: Corpus, places: Sequence[int] | NDArray[np.intp]) -> list[Item]:
    """Items for files of a commit: the path is shown, the body is read from the store when it is scored."""
    return [_item(corpus, int(place)) for place in places]


def _item(corpus: Corpus, place: int) -> Item:
    file = corpus.files[place]

    def body() -> str | None:
        assert corpus.index is not None  # an answer's own items are not made from its corpus
        content = corpus.index.store.content(file.blob)
        return None if content is None else content.decode("utf-8", "replace")

    return Item(
        file.path, file.path, body, {"path": file.path, "blob": file.blob, "corpus": corpus, "place": place}
    )


def _joined(*parts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Positions in order, each once."""
    return np.array(list(dict.fromkeys(np.concatenate(parts).tolist())), dtype=np.intp)


def _best(scores: NDArray[np.float64], limit: int) -> NDArray[np.intp]:
    """Positions of the highest scores above 0."""
    best = ranking(scores)[:limit]
    return best[scores[best] > 0]


def _common(lists: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """What all lists that are not empty share, in tree order."""
    filled = [one for one in lists if one.size]
    return reduce(np.intersect1d, filled) if filled else np.zeros(0, dtype=np.intp)
