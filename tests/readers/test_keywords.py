from pathlib import Path

import pytest
from firstpage.core.items import Query
from firstpage.readers.keywords import STOP_WORDS, keywords, weight


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("The error is in the method of this class.", [], id="only stop words"),
        pytest.param("Error ERROR error", [], id="stop words in any case"),
        pytest.param("ab a1 x", [], id="too short"),
        pytest.param("alpha omega delta", ["alpha", "omega", "delta"], id="ties by first appearance"),
        pytest.param("tiny colossal", ["colossal", "tiny"], id="longer first"),
        pytest.param("omega alpha alpha", ["alpha", "omega"], id="more frequent first"),
        pytest.param("abcdefgh AbcDef", ["AbcDef", "abcdefgh"], id="humps"),
        pytest.param("HTTPServer Abcdefghijk", ["Abcdefghijk", "HTTPServer"], id="two capitals are no hump"),
        pytest.param("abcdefgh ab_cdefg", ["ab_cdefg", "abcdefgh"], id="underscore"),
        pytest.param("Widget widget widget", ["widget"], id="one spelling of each"),
        pytest.param("0xDEADBEEF 3f2a9c1 v2_alpha", ["v2_alpha"], id="no tails of numbers"),
        pytest.param("naïveté", [], id="no parts of words in other letters"),
    ],
)
def test_keywords(text: str, expected: list[str]) -> None:
    assert keywords(Query(text)) == expected


def test_a_limit_keeps_the_weightiest() -> None:
    text = " ".join("abcdefghijklmnopqrstuvwxyz"[:length] for length in range(3, 20))
    assert len(keywords(Query(text))) == 10
    assert [len(word) for word in keywords(Query(text), limit=2)] == [19, 18]


def test_weights_grow_with_length_count_and_shape() -> None:
    assert weight("alpha", 2) > weight("alpha", 1) > weight("beta", 1)
    assert weight("QuerySet", 1) == pytest.approx(1.5 * weight("queryset", 1))
    assert weight("query_sets", 1) == pytest.approx(1.3 * weight("querysetss", 1))
    assert weight("Query_SetOf", 1) == pytest.approx(1.5 * 1.3 * weight("querysetoff", 1))


def test_the_stop_words_are_the_papers(data: Path) -> None:
    published = (data / "reference" / "first_chunk_stopwords.txt").read_text().split()
    assert sorted(published) == sorted(STOP_WORDS)
