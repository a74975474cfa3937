import random

import numpy as np
import pytest
from firstpage.core.items import Item, Query
from firstpage.readers.bm25 import BM25, length_in_terms, postings
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
    items = [
        Item("1", "cache.py", content="nothing"),
        Item("2", "cache.py"),
        Item("3", "x.py", content="cache"),
    ]
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


def test_postings_count_the_terms_of_the_query_in_order_of_appearance():
    documents = ["QuerySet get_item set set", "nothing", "item"]
    found = postings({"item": 1.0, "set": 2.0}, map(words, documents))
    assert found.document.tolist() == [0, 0, 2]
    assert found.term.tolist() == [1, 0, 0]
    assert found.count.tolist() == [3.0, 1.0, 1.0]
    assert found.weights.tolist() == [1.0, 2.0]


def test_a_document_is_as_long_as_its_words_or_its_terms():
    listed = words("QuerySet get_item set")
    assert postings({}, [listed]).lengths.tolist() == [3.0]
    assert postings({}, [listed], length=length_in_terms).lengths.tolist() == [3 + 3 + 1]


def test_words_can_be_indexed_otherwise():
    found = postings({"QuerySet": 1.0, "set": 1.0}, [["QuerySet", "set"]], lambda word: (word,))
    assert (found.term.tolist(), found.count.tolist()) == ([0, 1], [1.0, 1.0])


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=9), max_size=6))
def test_postings_are_those_of_counting_one_by_one(documents):
    weights = {"set": 1.0, "get_item": 1.0, "item": 1.0, "the": 1.0}
    found = postings(weights, documents)
    counted = [
        (place, column, [part for word in listed for part in terms(word)].count(term))
        for place, listed in enumerate(documents)
        for column, term in enumerate(weights)
    ]
    pairs = zip(found.document.tolist(), found.term.tolist(), found.count.tolist(), strict=True)
    assert sorted(pairs) == [row for row in counted if row[2]]
