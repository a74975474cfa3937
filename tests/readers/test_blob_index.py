import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest
from firstpage.core.errors import InputError, RunError
from firstpage.core.git import GitStore
from firstpage.readers.blob_index import BlobIndex, cache_folder
from hypothesis import given, settings
from hypothesis import strategies as st

PYTHON = (".py",)


@pytest.fixture
def index(repository):
    with GitStore(repository.folder) as store, closing(BlobIndex(store)) as opened:
        yield opened


def holding(corpus, text):
    return [corpus.files[place].path for place in corpus.containing(text)]


def test_a_text_is_found_inside_longer_words_case_and_all(repository, index):
    commit = repository.commit(
        "first", {"a.py": "class QuerySet: pass", "b.py": "queryset", "c.py": "x9Query_"}
    )
    corpus = index.corpus(commit, PYTHON)
    assert holding(corpus, "Query") == ["a.py", "c.py"]
    assert holding(corpus, "query") == ["b.py"]
    assert holding(corpus, "absent") == []


def test_search_agrees_with_git_grep_on_every_word(repository, index):
    body = (
        "def naïve_é(x2):\n\tretürn __init__ or x2y + 0xFF ^ a\x0bb_c\n".encode() + b"caf\xe9_tail\0after_nul"
    )
    commit = repository.commit("first", {"a.py": body, "b.py": "x2y = 12345", "c.py": ""})
    corpus = index.corpus(commit, PYTHON)
    for word in ("x2", "x2y", "init", "_tail", "after_nul", "xFF", "b_c", "retü", "caf", "ïve"):
        grep = subprocess.run(
            ["git", "grep", "-F", "-l", "-e", word, commit],
            cwd=repository.folder,
            capture_output=True,
            text=True,
        )
        assert holding(corpus, word) == [line.split(":", 1)[1] for line in grep.stdout.splitlines()], word


def test_postings_count_the_parts_of_identifiers(repository, index):
    commit = repository.commit("first", {"a.py": "getQuerySet() get_query()", "b.py": "nothing"})
    found = index.corpus(commit, PYTHON).postings({"query": 1.0, "getqueryset": 2.0, "unknown": 1.0})
    counts = {(int(file), int(term)): int(count)
              for file, term, count in zip(found.document, found.term, found.count, strict=True)}  # fmt: skip
    assert counts == {(0, 0): 2, (0, 1): 1}
    assert found.lengths.tolist() == [7, 1]


def test_the_next_commit_reads_only_what_changed(repository, index):
    first = repository.commit("first", {f"m{n}.py": f"name_{n}" for n in range(5)})
    second = repository.commit("second", {"m1.py": "other"})
    steps = []
    index.corpus(first, PYTHON, lambda done, to_do: steps.append((done, to_do)))
    index.corpus(second, PYTHON, lambda done, to_do: steps.append((done, to_do)))
    index.corpus(second, PYTHON, lambda done, to_do: steps.append((done, to_do)))
    assert steps == [(0, 5), (5, 5), (0, 1), (1, 1)]


def test_another_process_finds_what_one_has_indexed(repository, index):
    commit = repository.commit("first", {"a.py": "shared_word"})
    index.corpus(commit, PYTHON)
    with GitStore(repository.folder) as store, closing(BlobIndex(store)) as other:
        corpus = other.corpus(commit, PYTHON, lambda *_: pytest.fail("read a blob again"))
        assert holding(corpus, "shared_word") == ["a.py"]


def test_two_indexes_that_write_in_turn_agree_on_words(repository, index):
    first = repository.commit("first", {"a.py": "alpha common"})
    second = repository.commit("second", {"b.py": "beta common", "c.py": "gamma"})
    with GitStore(repository.folder) as store, closing(BlobIndex(store)) as other:
        index.corpus(first, PYTHON)
        other.corpus(second, PYTHON)
        third = repository.commit("third", {"d.py": "gamma delta common"})
        corpus = index.corpus(third, PYTHON)
        assert holding(corpus, "common") == ["a.py", "b.py", "d.py"]
        assert holding(corpus, "gamma") == ["c.py", "d.py"]


def test_a_kill_at_any_moment_leaves_a_usable_cache(repository, tmp_path):
    files = {f"m{n}.py": " ".join(f"word_{n}_{i}" for i in range(300)) for n in range(1500)}
    commit = repository.commit("many", files)
    script = (
        "import sys\n"
        "from firstpage.core.git import GitStore\n"
        "from firstpage.readers.blob_index import BlobIndex\n"
        "BlobIndex(GitStore(sys.argv[1])).corpus(sys.argv[2], ('.py',), lambda *_: print('step', flush=True))"
    )
    for steps in (1, 3, 4):
        writer = subprocess.Popen(
            [sys.executable, "-c", script, str(repository.folder), commit], stdout=subprocess.PIPE, text=True
        )
        for _ in range(steps):
            writer.stdout.readline()
        time.sleep(0.02 * steps)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    with GitStore(repository.folder) as store, closing(BlobIndex(store)) as opened:
        corpus = opened.corpus(commit, PYTHON)
        assert len(corpus.files) == 1500
        for n in (0, 255, 256, 700, 1499):
            assert holding(corpus, f"word_{n}_299") == [f"m{n}.py"]


def test_a_missing_blob_is_known_by_its_path_and_read_once_it_is_there(repository, index):
    commit = repository.commit("first", {"a.py": "lost_word", "b.py": "kept_word"})
    blob = repository.git("rev-parse", f"{commit}:a.py")
    loose = repository.folder / ".git" / "objects" / blob[:2] / blob[2:]
    loose.rename(loose.with_suffix(".away"))
    corpus = index.corpus(commit, PYTHON)
    assert [file.path for file in corpus.files] == ["a.py", "b.py"]
    assert holding(corpus, "word") == ["b.py"]
    loose.with_suffix(".away").rename(loose)
    with GitStore(repository.folder) as store, closing(BlobIndex(store)) as later:
        assert holding(later.corpus(commit, PYTHON), "word") == ["a.py", "b.py"]


def test_a_commit_without_files_gives_an_empty_corpus(repository, index):
    commit = repository.commit("nothing", {})
    corpus = index.corpus(commit, PYTHON)
    assert list(corpus.files) == []
    assert corpus.containing("x").tolist() == []
    assert corpus.postings({"x": 1.0}).scores().tolist() == []


def test_a_missing_commit_is_named(repository, index):
    repository.commit("first", {"a.py": ""})
    with pytest.raises(InputError, match="has no commit 'nowhere'"):
        index.corpus("nowhere", PYTHON)


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("FIRSTPAGE_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("FIRSTPAGE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "firstpage"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "firstpage"


@settings(max_examples=25, deadline=None)
@given(
    bodies=st.lists(st.text(alphabet="aB_1 .\n", max_size=30), min_size=1, max_size=4),
    word=st.from_regex("[aB_][aB_1]{0,3}", fullmatch=True),
)
def test_containing_is_substring_search(make_repository, bodies, word):
    made = make_repository()
    commit = made.commit("any", {f"{n}.py": body for n, body in enumerate(bodies)})
    with GitStore(made.folder) as store, closing(BlobIndex(store)) as opened:
        expected = [f"{n}.py" for n, body in enumerate(bodies) if word in body]
        assert holding(opened.corpus(commit, PYTHON), word) == expected


def test_a_cache_that_cannot_be_used_is_named_with_the_remedy(repository, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with (
        GitStore(repository.folder) as store,
        pytest.raises(RunError, match="name another folder with FIRST"),
    ):
        BlobIndex(store, tmp_path / "file")
    (tmp_path / "words-1").mkdir()
    with GitStore(repository.folder) as store:
        BlobIndex(store, tmp_path).close()
        (made,) = (tmp_path / "words-1").glob("*.sqlite")
        made.write_bytes(b"no database at all" * 100)
        with pytest.raises(RunError, match=r"the cache in .* cannot be used"):
            BlobIndex(store, tmp_path)


def test_processes_that_open_one_new_cache_at_once_all_get_it(repository, tmp_path):
    commit = repository.commit("first", {"a.py": "word"})
    script = (
        "import sys\n"
        "from firstpage.core.git import GitStore\n"
        "from firstpage.readers.blob_index import BlobIndex\n"
        "print(len(BlobIndex(GitStore(sys.argv[1])).corpus(sys.argv[2], ('.py',)).files))"
    )
    racing = [
        subprocess.Popen([sys.executable, "-c", script, repository.folder, commit], stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    assert [one.communicate()[0] for one in racing] == [b"1\n"] * 6
