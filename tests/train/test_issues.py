import pytest
from firstpage.core.git import GitStore
from firstpage.train.issues import choose, gold, issue, told


def row(query="Keep stale entries out of the cache", files=("app/cache.py",), **fields):
    return {
        "source": "history",
        "id": "1",
        "query": query,
        "files": [{"path": path} for path in files],
        **fields,
    }


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("Fix the cache\n\n* Update cache.py\n* it was lost", "Fix the cache\n\n* it was lost"),
        ("Fix the cache\n\nfor more information, see https://pre-commit.ci", "Fix the cache\n"),
        ("Fix the cache\nUpdate how the cache is kept", "Fix the cache\nUpdate how the cache is kept"),
        ("Mend it\n* Apply suggestions from code review\n* fix tests", "Mend it"),
        ("", ""),
    ],
)
def test_lines_that_tell_the_answer_or_nothing_are_left_out(message, left):
    assert told(message) == left


def test_gold_is_what_belongs_to_the_product():
    assert gold(row(files=("app/cache.py", "tests/test_cache.py", "docs/conf.py"))) == ["app/cache.py"]


def test_rows_that_make_no_issue_are_not_chosen():
    rows = [
        row("too few words"),
        row(files=("tests/test_a.py",)),
        row(files=("a.py", "b.py", "c.py", "d.py")),
    ]
    assert choose(rows, 10, 10, 1) == []


def test_the_same_seed_chooses_the_same_and_no_more_than_asked():
    rows = [row(f"Keep stale entries out of the cache number {number}") for number in range(50)]
    assert choose(rows, 40, 5, 1) == choose(rows, 40, 5, 1)
    assert len(choose(rows, 40, 5, 1)) == 5
    assert all(one in rows[:40] for one in choose(rows, 40, 5, 2))


@pytest.fixture
def mended(repository):
    parent = repository.commit("first", {"app/cache.py": "x = 1\n", "tests/test_cache.py": "a = 1\n"})
    commit = repository.commit(
        "second",
        {
            "app/cache.py": "x = 2\n",
            "tests/test_cache.py": "a = 1\n\n\ndef test_stale():\n    assert cache.get() == 1\n",
            "changes/12.bugfix.rst": ".. change::\n    :tags: bug\n\nThe cache gave stale entries.\n",
        },
    )
    return row(parent=parent, commit=commit)


def test_an_issue_has_the_message_the_note_and_often_the_test(repository, mended):
    with GitStore(repository.folder) as store:
        made = [issue(mended, store, seed) for seed in range(30)]
    assert all(
        one.startswith("Keep stale entries out of the cache\n\nThe cache gave stale entries.") for one in made
    )
    with_test = [one for one in made if "```python\n" in one]
    assert 10 < len(with_test) < 28
    assert "def test_stale():\n    assert cache.get() == 1" in with_test[0]
    assert all("x = 2" not in one for one in made)


def test_the_same_seed_makes_the_same_issue(repository, mended):
    with GitStore(repository.folder) as store:
        assert issue(mended, store, 5) == issue(mended, store, 5)
