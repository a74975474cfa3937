import os
import subprocess

import pytest
from firstpage.core.errors import InputError, RunError
from firstpage.core.git import GitStore


def test_files_of_a_commit_come_in_tree_order_without_links_and_submodules(repository):
    (repository.folder / "b.py").write_text("b")
    os.symlink("b.py", repository.folder / "a.py")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    commit = repository.commit("first", {"z/c.py": "c", "a-b.py": "", "notes.md": ""})
    with GitStore(repository.folder) as store:
        assert [file.path for file in store.files(commit)] == ["a-b.py", "b.py", "notes.md", "z/c.py"]
        assert [file.path for file in store.files(commit, (".py",))] == ["a-b.py", "b.py", "z/c.py"]


def test_any_commit_is_read_without_touching_the_work_tree(repository):
    first = repository.commit("first", {"a.py": "old"})
    repository.commit("second", {"a.py": "new"})
    (repository.folder / "a.py").write_text("not committed")
    before = sorted((path, path.stat().st_mtime_ns) for path in repository.folder.rglob("*"))
    with GitStore(repository.folder) as store:
        (file,) = store.files(first)
        assert store.content(file.blob) == b"old"
    assert sorted((path, path.stat().st_mtime_ns) for path in repository.folder.rglob("*")) == before


@pytest.mark.parametrize("name", ["line\nbreak.py", 'quo"te.py', "tab\t.py", "ünï.py", "sp ace.py"])
def test_unusual_names_come_through(repository, name):
    commit = repository.commit("first", {name: "x"})
    with GitStore(repository.folder) as store:
        assert [file.path for file in store.files(commit)] == [name]


def test_a_name_that_is_no_utf8_round_trips(repository):
    path = os.fsencode(repository.folder) + b"/caf\xe9.py"
    with open(path, "wb") as file:
        file.write(b"x")
    commit = repository.commit("first", {})
    with GitStore(repository.folder) as store:
        assert [os.fsencode(file.path) for file in store.files(commit)] == [b"caf\xe9.py"]


@pytest.mark.parametrize("content", [b"", b"\x00\xff binary", b"no newline", b"a\r\nb\n", b"x" * 3_000_000])
def test_contents_are_byte_exact(repository, content):
    commit = repository.commit("first", {"file": content, "next": "next"})
    with GitStore(repository.folder) as store:
        blobs = [file.blob for file in store.files(commit)]
        assert [body for _, body in store.contents(blobs)] == [content, b"next"]


def test_a_blob_that_the_store_lacks_is_none_and_reading_goes_on(repository):
    commit = repository.commit("first", {"a.py": "a"})
    with GitStore(repository.folder) as store:
        (file,) = store.files(commit)
        assert list(store.contents(["0" * 40, file.blob])) == [("0" * 40, None), (file.blob, b"a")]


def test_reading_goes_on_after_the_git_process_died(repository):
    commit = repository.commit("first", {"a.py": "a"})
    with GitStore(repository.folder) as store:
        (file,) = store.files(commit)
        assert store.content(file.blob) == b"a"
        store._batch.kill()
        store._batch.wait()
        assert store.content(file.blob) == b"a"


def test_a_bare_repository_and_one_without_a_config_are_read(repository, tmp_path):
    commit = repository.commit("first", {"a.py": "a"})
    subprocess.run(["git", "clone", "--quiet", "--bare", repository.folder, tmp_path / "bare"], check=True)
    with GitStore(tmp_path / "bare") as store:
        assert store.commit() == commit
    (tmp_path / "bare" / "config").unlink()
    with GitStore(tmp_path / "bare") as store:
        assert [file.path for file in store.files("main")] == ["a.py"]


def test_a_folder_inside_a_work_tree_stands_for_its_repository(repository):
    commit = repository.commit("first", {"src/a.py": "a"})
    with GitStore(repository.folder / "src") as store:
        assert [file.path for file in store.files(commit)] == ["src/a.py"]


@pytest.mark.parametrize("name", ["no-such-branch", "0" * 40, "", "--all", "HEAD~5"])
def test_a_missing_commit_is_named(repository, name):
    repository.commit("first", {"a.py": "a"})
    with GitStore(repository.folder) as store, pytest.raises(InputError, match="has no commit"):
        store.files(name)


def test_a_tree_or_blob_is_no_commit(repository):
    repository.commit("first", {"a.py": "a"})
    with GitStore(repository.folder) as store, pytest.raises(InputError, match="has no commit"):
        store.commit("HEAD^{tree}")


def test_a_missing_repository_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no repository at"):
        GitStore(tmp_path / "nowhere")


def test_a_folder_that_is_no_repository_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(InputError, match="is no git repository"):
        GitStore(tmp_path)


def test_a_history_that_cannot_be_read_is_an_error_of_the_run(repository):
    with GitStore(repository.folder) as store, pytest.raises(RunError, match="history"):
        store.log("--oneline")
