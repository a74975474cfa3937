"""Ranks all files of a commit by what an index knows of them, without reading any of them."""

import numpy as np
from numpy.typing import NDArray

from ..core.items import Query
from .blob_index import Corpus
from .hybrid import K1, by_path, relative
from .mentions import term_weights
from .testfiles import demotion


def rank(corpus: Corpus, query: Query) -> NDArray[np.float64]:
    """A score for each file of a corpus: that of `Hybrid` without the names that a file defines.

    Returns:
        Shape ``(len(corpus.files),)``, finite, >= 0; 0 for a file that shares nothing with the query.
    """
    weights = term_weights(query)
    paths = [file.path for file in corpus.files]
    score = relative(corpus.postings(weights).scores(k1=K1)) + by_path(query, weights, paths)
    return score * demotion(query, paths)
