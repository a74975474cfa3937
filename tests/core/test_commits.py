import pytest
from firstpage.core.commits import asks_nothing, is_bot, moved, subject_of, without_label, without_trailers


@pytest.mark.parametrize("author", ["dependabot[bot]", "sympy-bot", "Release Bot", "renovate"])
def test_machines_are_known_by_their_names(author):
    assert is_bot(author)


@pytest.mark.parametrize("author", ["Jan Bot", "Ann Abbot", "Botond", "Robot Jones", ""])
def test_people_with_such_names_are_people(author):
    assert not is_bot(author)


def test_a_subject_is_looked_at_with_and_without_its_label():
    assert asks_nothing("Bump version to 1.2.3")
    assert asks_nothing("chore(deps): bump requests from 2.0 to 3.0")
    assert not asks_nothing("fix: release the lock on errors")
    assert without_label("[maint] chore: x") == "chore: x"
    assert without_label("no label") == "no label"


def test_a_revert_is_known_by_its_body():
    reverts = f"This reverts commit {'1' * 40}."
    assert asks_nothing(f"Refs #7 -- the cache is back\n\n{reverts}")
    assert not asks_nothing(f"Speed up the cache\n\n* try it\n\n* undo it\n\n{reverts}")


def test_trailers_go_and_all_else_stays():
    message = "\nThe cache is stale\n\nLink between both:\nCloses #1\nSigned-off-by: A <a@b>\n"
    assert without_trailers(message) == "The cache is stale\n\nLink between both:\nCloses #1"
    assert subject_of(message) == "The cache is stale"


def test_a_move_is_one_name_added_and_deleted():
    assert moved([("A", "src/a.py"), ("D", "a.py"), ("M", "b.py"), ("A", "c.py")]) == 2
