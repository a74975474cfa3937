import numpy as np
import pytest
from firstpage.core.errors import InputError
from firstpage.core.git import GitStore
from firstpage.readers.blob_index import BlobIndex
from firstpage.readers.history import MOST_FILES


@pytest.fixture
def index(repository):
    with GitStore(repository.folder) as store, BlobIndex(store) as opened:
        yield opened


def test_files_changed_by_messages_that_read_like_the_query_are_voted_for(repository, index):
    repository.commit("Evict stale entries of the cache", {"cache.py": "1"})
    newest = repository.commit("Spell the views better", {"views.py": "1"})
    total, best = index.history(newest).votes({"stale": 1.0, "cache": 1.0}, ["cache.py", "views.py", "x.py"])
    assert total[0] > 0
    assert best[0] > 0
    assert total[1:].tolist() == best[1:].tolist() == [0, 0]


def test_a_commit_of_many_files_gives_each_less(repository, index):
    repository.commit("alpha", {"a.py": "1"})
    newest = repository.commit("beta", {"b.py": "1", "c.py": "1", "d.py": "1"})
    history = index.history(newest)
    assert history.votes({"alpha": 1.0}, ["a.py"])[0] == pytest.approx([1.0])
    assert history.votes({"beta": 1.0}, ["b.py"])[0] == pytest.approx([1 / np.sqrt(3)])


def test_nothing_newer_than_the_commit_counts(repository, index):
    first = repository.commit("first", {"a.py": "1"})
    repository.commit("the answer itself", {"b.py": "1"})
    history = index.history(first)
    assert history.votes({"answer": 1.0}, ["a.py", "b.py"])[0].tolist() == [0, 0]
    assert history.changes(["b.py"])[0].tolist() == [0]


def test_a_branch_that_was_not_merged_is_not_seen_whatever_its_date(repository, index):
    base = repository.commit("base", {"a.py": "1"})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("hidden answer", {"b.py": "1"})
    repository.git("checkout", "-q", "-")
    assert index.history(base).votes({"hidden": 1.0}, ["b.py"])[0].tolist() == [0]


def test_changes_tell_how_often_and_how_long_ago(repository, index):
    repository.commit("one", {"a.py": "1", "b.py": "1"})
    newest = repository.commit("two", {"a.py": "2"})
    times, recent, since = index.history(newest).changes(["a.py", "b.py", "never.py"])
    assert times.tolist() == [2, 1, 0]
    assert recent[0] > recent[1] > recent[2] == 0
    assert since[0] == 0
    assert since[2] == 10


def test_a_sweep_over_many_files_tells_of_none(repository, index):
    files = {f"m{number}.py": "1" for number in range(MOST_FILES + 1)}
    newest = repository.commit("sweep", files)
    assert index.history(newest).changes(["m0.py"])[0].tolist() == [0]


def test_paths_and_messages_of_all_kinds_are_read(repository, index):
    newest = repository.commit("Käse\n\n\x01 1234 odd \x02\n", {"ä b.py": "1", "c.py": "1"})
    times, _, _ = index.history(newest).changes(["ä b.py", "c.py"])
    assert times.tolist() == [1, 1]
    assert index.history(newest).votes({"käse": 1.0}, ["ä b.py"])[0][0] > 0


def test_later_commits_are_added_and_earlier_ones_not_read_again(repository, index, monkeypatch):
    first = repository.commit("first", {"a.py": "1"})
    index.history(first)
    second = repository.commit("second", {"a.py": "2"})
    asked = []
    messages = index.store.messages
    monkeypatch.setattr(index.store, "messages", lambda names: asked.extend(names) or messages(names))
    assert index.history(second).changes(["a.py"])[0].tolist() == [2]
    assert asked == [second]


def test_a_shallow_clone_has_the_history_that_it_has(repository, tmp_path):
    for number in range(4):
        repository.commit(f"commit {number}", {"a.py": str(number)})
    place = tmp_path / "shallow"
    repository.git("clone", "-q", "--depth", "2", f"file://{repository.folder}", str(place))
    with GitStore(place) as store, BlobIndex(store) as shallow:
        assert shallow.history("HEAD").changes(["a.py"])[0].tolist() == [2]


def test_a_missing_commit_is_named(repository, index):
    repository.commit("first", {"a.py": ""})
    with pytest.raises(InputError, match="has no commit 'nowhere'"):
        index.history("nowhere")
