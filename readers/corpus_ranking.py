"""Ranks all files of a commit by what an index knows of them, without reading any of them."""

import numpy as np
from numpy.typing import NDArray

from ..core.items import Query
from .corpus import Corpus
from .hybrid import WEIGHTS, Weights, kept, path_signals, relative, weighted
from .mentions import term_weights
from .testfiles import demoted


def rank(corpus: Corpus, query: Query, weights: Weights = WEIGHTS) -> NDArray[np.float64]:
    """A score for each file of a corpus: that of `Hybrid` without the names that a file defines.

    Returns:
        Shape ``(len(corpus.files),)``, finite, >= 0; 0 for a file that shares nothing with the query.
    """
    terms = term_weights(query, weights.title, weights.code)
    contents = relative(corpus.postings(terms).scores(k1=weights.k1))
    return weighted({"contents": contents, **path_signals(query, terms, corpus.paths)}, weights)


def demoted_scores(
    scores: NDArray[np.float64], query: Query, corpus: Corpus, weights: Weights = WEIGHTS
) -> NDArray[np.float64]:
    """Scores of all files, those of tests and of files beside the product less, as `Hybrid` has it."""
    return scores * kept(*demoted(query, corpus.paths), weights)
