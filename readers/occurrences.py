"""Which of several texts holds which word, by the words' numbers: what postings are looked up in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .bm25 import Postings


@dataclass(frozen=True)
class Occurrences:
    """A row for each text and word that it holds.

    Args:
        text: shape ``(m,)``, position of a text.
        id: shape ``(m,)``, number of a word.
        number: shape ``(m,)``, how often the text holds it, or what kind of name it is; shape ``(0,)`` where
            nothing is told but that it is there.
    """

    text: NDArray[np.int32]
    id: NDArray[np.int32]
    number: NDArray[np.int32]

    @classmethod
    def joined(
        cls, ids: Sequence[NDArray[np.int32]], numbers: Sequence[NDArray[np.int32]] = ()
    ) -> "Occurrences":
        """Of the words of each text.

        Example:
            >>> joined = Occurrences.joined([np.array([7, 8], np.int32), np.array([8], np.int32)])
            >>> joined.text.tolist(), joined.id.tolist()
            ([0, 0, 1], [7, 8, 8])
        """
        texts = np.repeat(np.arange(len(ids), dtype=np.int32), [part.size for part in ids])
        nothing = np.zeros(0, dtype=np.int32)
        return cls(texts, np.concatenate([nothing, *ids]), np.concatenate([nothing, *numbers]))

    def lengths(self, texts: int) -> NDArray[np.float64]:
        """All words of each of so many texts, counted as often as they are there: shape ``(texts,)``."""
        return np.bincount(self.text, self.number, texts).astype(np.float64)

    def holding(
        self, ids: Mapping[str, int], words: Sequence[str]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which rows hold one of some words, and the position among them of the one that each holds.

        Args:
            ids: the numbers of words.
            words: that are looked for.
        """
        column = np.full(int(self.id.max(initial=0)) + 1, -1, dtype=np.intp)  # by number of a word
        for place, word in enumerate(words):
            if (number := ids.get(word, column.size)) < column.size:
                column[number] = place
        of_row = column[self.id]
        held = np.flatnonzero(of_row >= 0)
        return held, of_row[held]

    def postings(
        self, ids: Mapping[str, int], weights: Mapping[str, float], lengths: NDArray[np.float64]
    ) -> Postings:
        """Where the terms of a query stand.

        Args:
            ids: the numbers of terms.
            weights: of the query's.
            lengths: shape ``(texts,)``, as `lengths` gives them.
        """
        held, column = self.holding(ids, list(weights))
        return Postings(
            self.text[held].astype(np.intp),
            column,
            self.number[held].astype(np.float64),
            lengths,
            np.array(list(weights.values()), dtype=np.float64),
        )
