import numpy as np
import pytest
from firstpage.readers.occurrences import Occurrences
from hypothesis import given
from hypothesis import strategies as st

IDS = {"cache": 1, "stale": 2, "view": 3}


def rows(*texts):
    return [np.array(one, dtype=np.int32) for one in texts]


def test_postings_tell_where_the_terms_of_a_query_stand():
    held = Occurrences.joined(rows([1, 3], [], [2, 1]), rows([5, 1], [], [2, 4]))
    found = held.postings(IDS, {"stale": 2.0, "unknown": 1.0, "cache": 1.0}, held.lengths(3))
    assert list(zip(found.document, found.term, found.count, strict=True)) == [
        (0, 2, 5),
        (2, 0, 2),
        (2, 2, 4),
    ]
    assert found.lengths.tolist() == [6, 0, 6]


def test_no_texts_hold_nothing():
    nothing = Occurrences.joined([])
    assert [part.tolist() for part in nothing.holding(IDS, ["cache"])] == [[], []]
    assert nothing.postings(IDS, {"cache": 1.0}, nothing.lengths(0)).scores().tolist() == []


def test_words_with_numbers_beyond_all_rows_are_held_by_none():
    assert Occurrences.joined(rows([1])).holding({"late": 99}, ["late"])[0].tolist() == []


@given(st.lists(st.lists(st.integers(1, 3), unique=True, max_size=3), max_size=5), st.permutations(list(IDS)))
def test_holding_finds_every_row_of_what_is_asked_and_no_other(texts, asked):
    held, column = Occurrences.joined(rows(*texts)).holding(IDS, asked[:2])
    flat = [(text, word) for text, one in enumerate(texts) for word in one]
    expected = [(row, asked.index(word)) for row, (_, number) in enumerate(flat)
                for word in asked[:2] if IDS[word] == number]  # fmt: skip
    assert list(zip(held.tolist(), column.tolist(), strict=True)) == expected


def test_every_row_tells_its_text_and_its_number():
    joined = Occurrences.joined(rows([1], [2, 3]), rows([4], [5, 6]))
    assert (joined.text.tolist(), joined.number.tolist()) == ([0, 1, 1], [4, 5, 6])
    assert pytest.approx(joined.lengths(2)) == [4, 11]
