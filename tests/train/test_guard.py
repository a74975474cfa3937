import random
import subprocess

import pytest
from firstpage.core.errors import InputError
from firstpage.core.git import GitStore
from firstpage.train import guard
from firstpage.train.guard import (
    check_rows,
    commit_held_out,
    digest,
    document_held_out,
    held_out,
    repository_held_out,
    row_held_out,
    sketch,
    store_held_out,
)

ASTROPY = "d16bfe05a744909de4b27f5875fe0d4ed41ce607"  # a base commit of SWE-bench Verified


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("django/django", "'django/django' is held out for SWE-bench Verified"),
        ("Django/DJANGO", "is held out for"),
        ("PyCQA/pylint", "'PyCQA/pylint' is pylint-dev/pylint under another name and is held out for"),
        ("sqlfluff/sqlfluff", "SWE-bench's development set"),
    ],
)
def test_repositories_of_the_evaluations_are_known_by_name(name, said):
    assert said in repository_held_out(name)


@pytest.mark.parametrize("name", ["psf/black", "dask/dask", "jbrockmendel/pandas", "", "django"])
def test_others_are_not(name):
    assert repository_held_out(name) == ""


def test_the_list_names_all_repositories_and_stays_small():
    listed = held_out()
    assert len({proper for proper, _ in listed.repositories.values()}) == 18
    assert len(listed.development) == 6
    assert len(listed.commits) > 900
    assert guard._FILE.stat().st_size < 100_000


def test_development_repositories_are_open_to_the_fusion():
    assert repository_held_out("pvlib/pvlib-python", "fusion") == ""
    assert repository_held_out("pvlib/pvlib-python", "neural")
    assert repository_held_out("psf/requests", "fusion")


def test_base_commits_are_known():
    assert "astropy/astropy" in commit_held_out(ASTROPY)
    assert commit_held_out("0" * 40) == ""


def test_a_repository_is_known_by_a_commit_whatever_its_name(repository, hold_out, tmp_path):
    base = repository.commit("A base commit of a task", {"a.py": "0"})
    repository.commit("And what came later", {"a.py": "1"})
    hold_out({"base_commits": [base]})
    subprocess.run(["git", "clone", "--quiet", "--bare", repository.folder, tmp_path / "fork"], check=True)
    for place in (repository.folder, tmp_path / "fork"):
        with GitStore(place) as store:
            assert store_held_out("some/fork", store) == (
                f"'some/fork' holds commit {base[:12]} of held/out, held out for a test"
            )


def test_a_repository_is_known_by_its_root(repository, hold_out):
    root = repository.commit("The root of it all", {"a.py": "0"})
    hold_out({"roots": [root]}, development=True)
    with GitStore(repository.folder) as store:
        assert root[:12] in store_held_out("some/fork", store)
        assert store_held_out("some/fork", store, "fusion") == ""


def test_a_repository_with_none_of_the_commits_is_free(repository):
    with GitStore(repository.folder) as store:
        assert store_held_out("o/n", store) == ""
        assert "is held out" in store_held_out("django/django", store)


TEXT = " ".join(random.Random(1).choices([f"word{number}" for number in range(500)], k=2000))


@pytest.mark.parametrize(
    "copy",
    [TEXT, TEXT.upper(), TEXT.replace(" ", "\n\n"), TEXT.replace("word7 ", "Word7, ")],
    ids=["same", "case", "space", "points"],
)
def test_a_document_is_known_by_its_words(hold_out, copy):
    hold_out(documents={"report": TEXT})
    assert digest(copy) == digest(TEXT)
    assert document_held_out("x", copy) == "the document 'x' is 'report', held out for a test of documents"


@pytest.mark.parametrize(
    "copy",
    [TEXT[: len(TEXT) // 2], "A title. " + TEXT, TEXT.replace("word77 ", "other "), f"{TEXT} {TEXT[::-1]}"],
    ids=["half", "title", "edited", "longer"],
)
def test_a_document_that_was_cut_or_edited_is_known_by_its_sketch(hold_out, copy):
    hold_out(documents={"report": TEXT})
    assert "repeats much of 'Report'" in document_held_out("x", copy)


def test_other_documents_are_free(hold_out):
    hold_out(documents={"report": TEXT})
    words = TEXT.split()
    random.Random(2).shuffle(words)
    assert document_held_out("x", " ".join(words)) == ""
    assert document_held_out("x", "") == ""
    assert document_held_out("x", "two words") == ""
    assert len(sketch("two words")) <= 1


def test_documents_of_a_held_out_set_are_known_by_name(hold_out):
    hold_out()
    assert (
        document_held_out("SECRET-12", "") == "the document 'SECRET-12' is held out for a test of documents"
    )
    guard.held_out.cache_clear()


@pytest.mark.parametrize("name", ["loogle-longdep_qa-3", "longdep_qa-3", "chunking_eval-finance"])
def test_the_shipped_list_names_the_sets_that_are_for_testing(name):
    assert document_held_out(name, "")


@pytest.mark.parametrize(
    "row",
    [
        {"repo": "django/django", "parent": "0" * 40},
        {"repo": "o/n", "parent": ASTROPY},
        {"doc_id": "loogle-shortdep_qa-1"},
        {"repo": "pydicom/pydicom", "parent": "0" * 40},
    ],
)
def test_rows_that_were_mined_from_it_are_refused(row):
    assert row_held_out(row)
    with pytest.raises(InputError, match=r"^rows, line 1: .* held out for .*; nothing is trained on it$"):
        check_rows([("rows, line 1", row)])


def test_other_rows_pass():
    check_rows([("a", {"repo": "o/n", "parent": "0" * 40}), ("b", {"doc_id": "covidqa-1"})])
    check_rows([("c", {"repo": "pydicom/pydicom", "parent": "0" * 40})], "fusion")
