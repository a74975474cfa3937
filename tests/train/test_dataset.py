import sys

import pytest
from firstpage.core.errors import InputError, MissingExtraError
from firstpage.train.dataset import load_rows
from firstpage.train.rows import write_rows

CODE = {
    "source": "history", "id": "1", "repo": "o/n", "commit": "2" * 40, "parent": "1" * 40, "query": "Why?",
    "files": [{"path": "a.py", "lines": [[1, 2]], "functions": [{"name": "f", "start": 1, "end": 3}]}],
    "tests": [], "beside": [],
}  # fmt: skip
DOCUMENT = {
    "source": "evidence", "set": "s", "doc_id": "d", "id": "1", "query": "Why?",
    "spans": [[0, 3]], "split": "dev",
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    def write(*rows):
        write_rows(tmp_path / "rows.jsonl.gz", rows)
        return [tmp_path / "rows.jsonl.gz"]

    return write


@pytest.mark.parametrize("row", [CODE, DOCUMENT])
def test_rows_come_back_as_they_were(written, row):
    pytest.importorskip("datasets")
    loaded = load_rows(written(row, {**row, "id": "2"}))
    assert loaded.to_list() == [row, {**row, "id": "2"}]
    assert list(loaded.features) == list(row)


def test_rows_without_functions_or_tests_have_the_same_columns(written):
    pytest.importorskip("datasets")
    bare = {**CODE, "files": [{"path": "a.c", "lines": [[2, 2]], "functions": []}]}
    assert load_rows(written(bare)).features == load_rows(written(CODE)).features


def test_what_is_held_out_is_refused(written):
    pytest.importorskip("datasets")
    with pytest.raises(InputError, match=r"line 2: 'django/django' is held out for"):
        load_rows(written(CODE, {**CODE, "repo": "django/django"}))
    with pytest.raises(InputError, match="held out for LooGLE"):
        load_rows(written({**DOCUMENT, "doc_id": "loogle-shortdep_qa-0"}))
    development = written({**CODE, "repo": "pydicom/pydicom"})
    assert len(load_rows(development, "fusion")) == 1
    with pytest.raises(InputError, match="development set"):
        load_rows(development)


def test_rows_of_both_kinds_do_not_mix_and_others_are_named(written, tmp_path):
    pytest.importorskip("datasets")
    with pytest.raises(
        InputError, match="line 2 needs the field 'repo' of rows that were mined from repositories"
    ):
        load_rows(written(CODE, DOCUMENT))
    with pytest.raises(InputError, match="line 1 needs the field 'source'"):
        load_rows(written({"query": "Why?"}))
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match="there is no row in"):
        load_rows([tmp_path / "empty.jsonl"])
    with pytest.raises(InputError, match="there is no purpose 'all'; there are neural and fusion"):
        load_rows(written(CODE), "all")


def test_without_the_library_the_error_says_what_to_install(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firstpage\[train\]'"):
        load_rows(written(CODE))
