import json

import pytest
from firstpage.core.errors import InputError
from firstpage.train.evidence import count_documents, mine_evidence, split_of
from firstpage.train.rows import read_rows
from hypothesis import given
from hypothesis import strategies as st

TEXT = "The cache is kept. It forgets nothing. The cache is kept."


def question(**fields):
    return {
        "id": "q1",
        "question": " What is kept? ",
        "answer": "the cache",
        "evidence": ["The cache is kept."],
        "spans": [[0, 18]],
    } | fields


def document(*questions, **fields):
    return {"doc_id": "d1", "title": "T", "text": TEXT, "questions": list(questions)} | fields


@pytest.fixture
def mine(tmp_path):
    def run(*documents, name="set.jsonl", **options):
        path = tmp_path / name
        path.write_text("".join(json.dumps(one) + "\n" for one in documents))
        summary = mine_evidence([path], tmp_path / "rows.jsonl", **options)
        return [row for _, row in read_rows(tmp_path / "rows.jsonl")], summary

    return run


def test_a_row_is_a_question_and_its_spans(mine):
    rows, summary = mine(document(question(spans=[[39, 57], [0, 18], [0, 18]], evidence=[])))
    assert rows == [
        {
            "source": "evidence",
            "set": "set",
            "doc_id": "d1",
            "id": "q1",
            "query": "What is kept?",
            "spans": [[0, 18], [39, 57]],
            "split": split_of(TEXT),
        }
    ]
    assert summary == {"documents": 1, "questions": 1, "rows": 1, "dropped": {}}


@pytest.mark.parametrize(
    "category", ["Document Name", "Parties", "Agreement Date", "Effective Date", "Expiration Date"]
)
def test_short_categories_are_skipped(mine, category):
    rows, summary = mine(document(question(category=category), question(id="q2", category="Governing Law")))
    assert [row["id"] for row in rows] == ["q2"]
    assert summary["dropped"] == {"short category": 1}


def test_questions_without_evidence_or_text_make_no_row(mine):
    rows, summary = mine(document(question(spans=[], evidence=[]), question(question=" "), question(id="q3")))
    assert [row["id"] for row in rows] == ["q3"]
    assert summary["dropped"] == {"no evidence": 1, "no text": 1}


def test_documents_are_split_and_a_copy_is_in_the_same_part(mine):
    documents = [
        document(question(spans=[[0, 3]], evidence=[]), doc_id=f"d{n}", text=f"text {n}") for n in range(300)
    ]
    train, summary = mine(*documents, split="train")
    dev, _ = mine(*documents, split="dev")
    assert len(train) + len(dev) == 300
    assert 15 <= len(dev) <= 45
    assert not {row["doc_id"] for row in train} & {row["doc_id"] for row in dev}
    assert summary["dropped"] == {"other split": len(dev)}
    assert {row["split"] for row in dev} == {"dev"}
    assert split_of("Some  TEXT!") == split_of("some text")


@pytest.mark.parametrize(
    "span", [[0, 58], [-1, 3], [3, 3], [4, 3], [0], [0, 1, 2], "01", [0.0, 3.0], None, [True, 3]]
)
def test_a_span_that_is_none_is_named(mine, span):
    with pytest.raises(
        InputError, match=r"set.jsonl, line 1, question 1 has the span .*none of its text of 57"
    ):
        mine(document(question(spans=[span])))


def test_a_span_that_does_not_hold_its_evidence_is_named(mine):
    with pytest.raises(InputError, match="has a span, 1 to 19, that does not hold its evidence"):
        mine(document(question(spans=[[1, 19]])))


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"doc_id": 1}, "needs the field 'doc_id', a string"),
        ({"text": None}, "needs the field 'text', a string"),
        ({"questions": {}}, "needs the field 'questions', a list"),
        ({"questions": ["q"]}, "question 1 is no object"),
        ({"questions": [{"id": "q"}]}, "question 1 needs the field 'question', a string"),
        ({"questions": [{"id": "q", "question": "?"}]}, "question 1 needs the field 'spans', a list"),
        ({"questions": [{"question": "?", "spans": []}]}, "question 1 needs the field 'id', a string"),
    ],
)
def test_broken_documents_are_named(mine, broken, said):
    with pytest.raises(InputError, match=said):
        mine(document(question(), **broken) if "questions" not in broken else document() | broken)


def test_empty_sets_and_repeated_documents_are_refused(mine, tmp_path):
    with pytest.raises(InputError, match=r"no question of .* makes a row \(it is empty\)"):
        mine()
    with pytest.raises(InputError, match=r"makes a row \(it is empty\)"):
        mine(document())
    with pytest.raises(InputError, match="line 2 repeats the document 'd1'"):
        mine(document(question()), document(question()))
    assert not (tmp_path / "rows.jsonl").exists()


def test_held_out_documents_are_refused_by_name_and_by_words(mine, hold_out):
    with pytest.raises(InputError, match="line 1: the document 'loogle-longdep_qa-0' is held out for LooGLE"):
        mine(document(question(), doc_id="loogle-longdep_qa-0"))
    hold_out(documents={"report": TEXT})
    with pytest.raises(
        InputError, match="the document 'd1' is 'report', held out for a test of documents; nothing"
    ):
        mine(document(question()))


def test_documents_are_counted(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(document()) + "\n\n")
    assert count_documents([tmp_path / "a.jsonl", tmp_path / "a.jsonl"]) == 2


def test_the_sets_at_hand_are_read(data, tmp_path):
    rows = mine_evidence([data / "evidence" / "covidqa.jsonl.gz"], tmp_path / "rows.jsonl.gz")
    assert (rows["documents"], rows["rows"]) == (98, 1380)
    for name in ("loogle_shortdep_qa", "loogle_longdep_qa", "chunking_eval"):
        with pytest.raises(InputError, match="is held out for"):
            mine_evidence([data / "evidence" / f"{name}.jsonl.gz"], tmp_path / "rows.jsonl.gz")


@given(st.text())
def test_each_text_has_one_part(text):
    assert split_of(text) == split_of(text.upper().upper()) or text.upper().casefold() != text.casefold()
    assert split_of(text) in {"train", "dev"}
