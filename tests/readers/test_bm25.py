import random

import numpy as np
import pytest
from firstpage.core.items import Item, Query
from firstpage.readers.bm25 import BM25
from firstpage.readers.words import terms, words
from hypothesis import given
from hypothesis import strategies as st

WORDS = ["cache", "clear", "get_item", "QuerySet", "index", "page", "the"]


def items_of(texts):
    return [Item(str(number), text) for number, text in enumerate(texts)]


def test_the_scores_are_those_of_another_implementation():
    bm25s = pytest.importorskip("bm25s")
    draw = random.Random(5)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(3, 40))) for _ in range(60)]
    # Each term once in the query, since bm25s takes a query as a set with repeats summed.
    query = "clear QuerySet page"
    corpus = [[term for word in words(text) for term in terms(word)] for text in texts]
    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    theirs.index(corpus, show_progress=False)
    expected = theirs.get_scores([term for word in words(query) for term in terms(word)])
    # Lucene's variant leaves out the factor k1 + 1, which changes no ranking.
    np.testing.assert_allclose(BM25().values(Query(query), items_of(texts)) / 2.2, expected, rtol=1e-5)


def test_the_content_is_scored_where_there_is_any_else_the_text():
    items = [Item("1", "cache.py", content="nothing"), Item("2", "cache.py"), Item("3", "x.py", content="cache")]
    first, second, third = BM25().values(Query("cache"), items)
    assert first == 0 < second
    assert third > 0


def test_parts_of_identifiers_are_found():
    values = BM25().values(Query("query"), items_of(["class QuerySet", "get_query()", "inquiry"]))
    assert (values > 0).tolist() == [True, True, False]


@pytest.mark.parametrize("query", ["", "   ", "unheard of", "\udcff"])
def test_a_query_that_shares_no_term_gives_zeros(query):
    assert BM25().values(Query(query), items_of(["cache", ""])).tolist() == [0.0, 0.0]


@given(st.lists(st.text(max_size=40), max_size=8), st.text(max_size=40))
def test_values_are_finite_and_never_negative(texts, query):
    values = BM25().values(Query(query), items_of(texts))
    assert values.shape == (len(texts),)
    assert np.isfinite(values).all()
    assert (values >= 0).all()
