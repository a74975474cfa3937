from firstpage.core.git import GitStore
from firstpage.train.changes import commits
from firstpage.train.cochanges import Cochanges


def test_files_changed_together_until_a_commit_most_often_first(repository):
    repository.commit("a root", {"a": "0", "b": "0", "c": "0", "d": "0"})
    first = repository.commit("b", {"a": "1", "b": "1"})
    repository.commit("c twice", {"a": "2", "c": "2"})
    second = repository.commit("c", {"a": "3", "c": "3"})
    repository.commit("d", {"a": "4", "d": "4"})
    with GitStore(repository.folder) as store:
        told = Cochanges(commits(store, store.commit()))
    assert told.until(second, "a") == ["c", "b", "d"]  # c three times; b later than d's only time
    assert told.until(first, "a") == ["b", "c", "d"]
    assert told.until("0" * 40, "a") == told.until(second, "e") == []


def test_a_sweep_and_a_file_alone_tell_nothing(repository):
    repository.commit("a sweep", {f"{number}": "0" for number in range(51)})
    last = repository.commit("alone", {"1": "1"})
    with GitStore(repository.folder) as store:
        assert Cochanges(commits(store, last)).until(last, "1") == []
