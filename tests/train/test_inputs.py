import sys

import pytest
from firstpage.core.errors import InputError, MissingExtraError
from firstpage.train.inputs import Question, contrastive, lists, load_examples, pairs, questions
from firstpage.train.rows import write_rows

EXAMPLE = {
    "source": "history", "id": "1", "repo": "o/n", "query": "Why?", "positive": "good",
    "negatives": ["bad", "worse"],
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    def write(*rows, name="examples.jsonl.gz"):
        write_rows(tmp_path / name, rows)
        return [tmp_path / name]

    return write


@pytest.fixture
def loaded(written):
    return lambda *rows: load_examples(written(*rows))


def test_examples_come_back_in_their_order_without_other_fields(written):
    first = written({**EXAMPLE, "kinds": ["bm25", "folder"]}, {**EXAMPLE, "id": "2", "negatives": []})
    second = written({**EXAMPLE, "id": "3"}, name="more.jsonl")
    assert load_examples(first + second).to_list() == [
        EXAMPLE,
        {**EXAMPLE, "id": "2", "negatives": []},
        {**EXAMPLE, "id": "3"},
    ]


def test_the_same_rows_have_the_same_fingerprint(loaded):
    assert loaded(EXAMPLE)._fingerprint == loaded(EXAMPLE)._fingerprint
    assert loaded(EXAMPLE)._fingerprint != loaded({**EXAMPLE, "id": "2"})._fingerprint


def test_more_rows_than_an_array_takes_stay_in_order(loaded, monkeypatch):
    monkeypatch.setattr("firstpage.train.dataset._PART", 2)
    rows = loaded(*({**EXAMPLE, "id": str(number)} for number in range(5)))
    assert rows["id"] == ["0", "1", "2", "3", "4"]
    assert rows[4] == {**EXAMPLE, "id": "4"}


def test_what_is_held_out_is_refused_and_only_the_development_set_may_say_when_to_stop(written):
    with pytest.raises(InputError, match=r"line 2: 'django/django' is held out for"):
        load_examples(written(EXAMPLE, {**EXAMPLE, "repo": "django/django"}))
    development = written({**EXAMPLE, "repo": "pydicom/pydicom"})
    assert len(load_examples(development, "fusion")) == 1
    with pytest.raises(InputError, match="development set"):
        load_examples(development)
    with pytest.raises(InputError, match="'django/django' is held out"):
        load_examples(written({**EXAMPLE, "repo": "django/django"}), "fusion")


@pytest.mark.parametrize("document", [{"repo": "loogle-1"}, {"repo": "", "doc_id": "LooGLE-1"}])
def test_documents_that_are_held_out_are_refused(written, document):
    with pytest.raises(InputError, match="held out for LooGLE"):
        load_examples(written({**EXAMPLE, "source": "evidence", **document}))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"query": "Why?"}, "line 1 needs the field 'source', a string"),
        ({**EXAMPLE, "negatives": "bad"}, "line 1 needs the field 'negatives', a list"),
        ({**EXAMPLE, "negatives": ["bad", 1]}, "line 1 needs the field 'negatives', a list of strings"),
        ({**EXAMPLE, "positive": None}, "line 1 needs the field 'positive', a string"),
        ({**EXAMPLE, "query": " \n"}, "line 1 has nothing in the field 'query'"),
    ],
)
def test_rows_that_are_no_examples_are_named(written, row, said):
    with pytest.raises(InputError, match=said):
        load_examples(written(row))


def test_files_without_examples_and_purposes_that_are_none_are_named(tmp_path, written):
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"there is no example in .*empty.jsonl"):
        load_examples([tmp_path / "empty.jsonl"])
    with pytest.raises(InputError, match="there is no purpose 'all'; there are neural and fusion"):
        load_examples(written(EXAMPLE), "all")


def test_without_the_library_the_error_says_what_to_install(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firstpage\[train\]'"):
        load_examples(written(EXAMPLE))


def test_a_loss_within_a_batch_gets_a_text_a_column(loaded):
    rows = loaded(EXAMPLE, {**EXAMPLE, "id": "2", "negatives": ["bad"]})
    assert contrastive(rows, 0).to_list() == [{"query": "Why?", "positive": "good"}] * 2
    assert contrastive(rows, 2).to_list() == [
        {"query": "Why?", "positive": "good", "negative_1": "bad", "negative_2": "worse"}
    ]
    with pytest.raises(InputError, match="negatives: no example has 3 of them; lower it"):
        contrastive(rows, 3)


def test_no_negative_is_there_twice_or_answers_the_query(loaded):
    other = {**EXAMPLE, "positive": "fine", "negatives": ["good", "bad", "bad", "worse"]}
    rows = loaded(EXAMPLE, other)
    assert lists(rows, 7)["documents"] == [["good", "bad", "worse"], ["fine", "bad", "worse"]]


def test_losses_over_lists_and_pairs_get_labels(loaded):
    rows = loaded(EXAMPLE, {**EXAMPLE, "id": "2", "negatives": []})
    assert lists(rows, 1).to_list() == [{"query": "Why?", "documents": ["good", "bad"], "labels": [1, 0]}]
    assert pairs(rows, 7).to_list() == [
        {"query": "Why?", "document": text, "label": label}
        for text, label in (("good", 1.0), ("bad", 0.0), ("worse", 0.0))
    ]
    for form in (lists, pairs):
        with pytest.raises(InputError, match="no example has a negative"):
            form(loaded({**EXAMPLE, "negatives": ["good"]}), 1)


def test_a_question_has_all_of_its_positives(loaded):
    rows = loaded(
        EXAMPLE,
        {**EXAMPLE, "positive": "bad", "negatives": ["worse", "worst"]},
        {**EXAMPLE, "id": "2"},
        {**EXAMPLE, "id": "3", "negatives": []},
    )
    assert questions(rows) == [
        Question("Why?", ("good", "bad"), ("worse", "worst")),
        Question("Why?", ("good",), ("bad", "worse")),
    ]
    with pytest.raises(InputError, match="no example has a negative"):
        questions(loaded({**EXAMPLE, "negatives": []}))
