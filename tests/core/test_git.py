import os
import subprocess
import sys
from pathlib import Path

import pytest
from firstpage.core.errors import InputError, RunError
from firstpage.core.git import LOCAL_VARIABLES, GitStore, git_environment


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


@pytest.fixture
def broken_git(tmp_path, monkeypatch):
    """Stands in for ``git cat-file --batch``: a Python script; every other command is the real git's."""
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")

    def make(script: str) -> None:
        (tmp_path / "bin" / "fake.py").write_text(script)
        git = tmp_path / "bin" / "git"
        git.write_text(
            "#!/bin/sh\n"
            f'case "$*" in *"cat-file --batch") exec {sys.executable} {tmp_path / "bin" / "fake.py"};; esac\n'
            f'exec {real} "$@"\n'
        )
        git.chmod(0o755)

    return make


@pytest.mark.parametrize("said", ["blob 9\\nhalf", "blob 4\\nhalf", "blob 4\\nhalf?", "tree", "missing it"])
def test_half_an_answer_is_an_error_and_the_next_one_is_whole(repository, broken_git, tmp_path, said):
    commit = repository.commit("first", {"a.py": "whole"})
    (tmp_path / "once").touch()
    broken_git(
        "import os, pathlib, sys\n"
        "once = pathlib.Path(__file__).parent.parent / 'once'\n"
        "for line in sys.stdin:\n"
        "    if once.exists():\n"
        "        once.unlink()\n"
        f"        print(line.strip(), '{said}', end='', flush=True)\n"
        "        os._exit(1)\n"
        "    print(line.strip(), 'blob 5\\nwhole', flush=True)\n"
    )
    with GitStore(repository.folder) as store:
        (file,) = store.files(commit)
        with pytest.raises(RunError, match=f"ended while reading blob {file.blob}"):
            store.content(file.blob)
        assert store.content(file.blob) == b"whole"


def test_the_answer_to_another_question_is_refused(repository, broken_git):
    commit = repository.commit("first", {"a.py": "a"})
    broken_git(f"input()\nprint('{'1' * 40} blob 5\\nother', flush=True)\ninput()")
    with GitStore(repository.folder) as store:
        (file,) = store.files(commit)
        with pytest.raises(RunError, match="ended while reading"):
            store.content(file.blob)


def test_a_git_that_always_dies_is_an_error_of_the_run(repository, broken_git):
    commit = repository.commit("first", {"a.py": "a"})
    broken_git("")
    with GitStore(repository.folder) as store:
        (file,) = store.files(commit)
        for _ in range(3):
            with pytest.raises(RunError, match="ended while reading"):
                store.content(file.blob)


def test_a_pipe_that_breaks_between_two_questions_is_mended(repository):
    commit = repository.commit("first", {"a.py": "a"})
    with GitStore(repository.folder) as store:
        (file,) = store.files(commit)
        assert store.content(file.blob) == b"a"
        # As when the process dies after it was seen alive: the question goes nowhere.
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, store._batch.stdin.fileno())
        os.close(writing)
        assert store.content(file.blob) == b"a"


@pytest.fixture
def partial(repository, tmp_path) -> Path:
    """A clone without blobs of a repository of two files."""
    repository.commit("first", {"a.py": "a", "b.py": "b"})
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    address = f"file://{repository.folder}"
    repository.git("clone", "--quiet", "--filter=blob:none", "--no-checkout", address, str(tmp_path / "part"))
    return tmp_path / "part"


def test_a_partial_clone_fetches_nothing_and_lacks_what_it_lacks(partial, monkeypatch):
    before = sorted(partial.rglob("*"))
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **more: started.append(a) or popen(*a, **more))
    with GitStore(partial) as store:
        files = store.files("HEAD")
        assert [file.path for file in files] == ["a.py", "b.py"]
        count = len(started)
        assert list(store.contents(file.blob for file in files * 50)) == [(f.blob, None) for f in files * 50]
        assert len(started) - count <= 2  # is it partial, and what is there
    assert sorted(partial.rglob("*")) == before


def test_a_partial_clone_gives_what_it_has(partial):
    subprocess.run(["git", "cat-file", "-e", "HEAD:a.py"], cwd=partial, check=True)  # fetches it
    with GitStore(partial) as store:
        assert [body for _, body in store.contents(file.blob for file in store.files("HEAD"))] == [b"a", None]


def test_a_repository_that_the_environment_names_is_not_read(make_repository, monkeypatch):
    ours, theirs = make_repository(), make_repository()
    commit = ours.commit("ours", {"src/a.py": "ours"})
    theirs.commit("theirs", {"a.py": "theirs"})
    for name, inside in {
        "GIT_DIR": "", "GIT_COMMON_DIR": "", "GIT_OBJECT_DIRECTORY": "objects", "GIT_INDEX_FILE": "index",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(theirs.folder / ".git" / inside))
    monkeypatch.setenv("GIT_WORK_TREE", str(theirs.folder))
    with GitStore(ours.folder / "src") as store:
        assert store.git_dir == ours.folder / ".git"
        (file,) = store.files(commit)
        assert (file.path, store.content(file.blob)) == ("src/a.py", b"ours")


def test_all_variables_that_git_calls_local_are_dropped_but_settings():
    listed = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    )
    assert set(listed.stdout.split()) - LOCAL_VARIABLES == {"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}


def test_only_what_may_fetch_can(monkeypatch):
    monkeypatch.delenv("GIT_ALLOW_PROTOCOL", raising=False)
    assert git_environment()["GIT_ALLOW_PROTOCOL"] == "none"
    assert "GIT_ALLOW_PROTOCOL" not in git_environment(may_fetch=True)


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


def test_a_repository_that_git_refuses_is_named_with_git_s_reason(repository, monkeypatch):
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(InputError, match=r"git says: .*dubious ownership.*safe\.directory") as raised:
        GitStore(repository.folder)
    assert "\n" not in str(raised.value)
