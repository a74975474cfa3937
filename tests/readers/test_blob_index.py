import signal
import sqlite3
import subprocess
import sys

import pytest
from firstpage.core.errors import InputError
from firstpage.core.git import GitStore
from firstpage.readers.blob_index import BlobIndex, cache_folder
from hypothesis import given, settings
from hypothesis import strategies as st

PYTHON = (".py",)


@pytest.fixture
def index(repository):
    with GitStore(repository.folder) as store, BlobIndex(store) as opened:
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
    with GitStore(repository.folder) as store, BlobIndex(store) as other:
        corpus = other.corpus(commit, PYTHON, lambda *_: pytest.fail("read a blob again"))
        assert holding(corpus, "shared_word") == ["a.py"]


def test_two_indexes_that_write_in_turn_agree_on_words(repository, index):
    first = repository.commit("first", {"a.py": "alpha common"})
    second = repository.commit("second", {"b.py": "beta common", "c.py": "gamma"})
    with GitStore(repository.folder) as store, BlobIndex(store) as other:
        index.corpus(first, PYTHON)
        other.corpus(second, PYTHON)
        third = repository.commit("third", {"d.py": "gamma delta common"})
        corpus = index.corpus(third, PYTHON)
        assert holding(corpus, "common") == ["a.py", "b.py", "d.py"]
        assert holding(corpus, "gamma") == ["c.py", "d.py"]


# Stops for good in the middle of the transaction whose number is given, just before the statement given.
STOPPING = """
import sys, time
from firstpage.core.git import GitStore
from firstpage.readers.blob_index import BlobIndex
store, commit, number, statement = sys.argv[1:]
index = BlobIndex(GitStore(store))
begun = 0
def stop(said):
    global begun
    begun += said.startswith("BEGIN")
    if begun == int(number) and said.startswith(statement):
        print("inside", index._file.database.in_transaction, flush=True)
        time.sleep(600)
index._file.database.set_trace_callback(stop)
index.corpus(commit, (".py",))
"""


@pytest.mark.parametrize("statement", ["INSERT INTO words", "INSERT OR IGNORE INTO blobs", "COMMIT"])
@pytest.mark.parametrize("number", [1, 3])
def test_a_kill_inside_a_transaction_loses_that_one_alone(repository, statement, number):
    files = {f"m{n}.py": f"common word_{n}_a word_{n}_b" for n in range(700)}
    commit = repository.commit("many", files)
    writer = subprocess.Popen(
        [sys.executable, "-c", STOPPING, str(repository.folder), commit, str(number), statement],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout.readline() == "inside True\n"
    writer.kill()
    assert writer.wait() == -signal.SIGKILL
    steps = []
    with GitStore(repository.folder) as store, BlobIndex(store) as opened:
        corpus = opened.corpus(commit, PYTHON, lambda *step: steps.append(step))
        assert steps[0] == (0, 700 - 256 * (number - 1))
        assert len(holding(corpus, "common")) == 700
        for n in (0, 255, 256, 511, 512, 699):
            assert holding(corpus, f"word_{n}_b") == [f"m{n}.py"]


def test_a_missing_blob_is_known_by_its_path_and_read_once_it_is_there(repository, index):
    commit = repository.commit("first", {"a.py": "lost_word", "b.py": "kept_word"})
    blob = repository.git("rev-parse", f"{commit}:a.py")
    loose = repository.folder / ".git" / "objects" / blob[:2] / blob[2:]
    loose.rename(loose.with_suffix(".away"))
    corpus = index.corpus(commit, PYTHON)
    assert [file.path for file in corpus.files] == ["a.py", "b.py"]
    assert holding(corpus, "word") == ["b.py"]
    loose.with_suffix(".away").rename(loose)
    with GitStore(repository.folder) as store, BlobIndex(store) as later:
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


@settings(max_examples=25, deadline=None)
@given(
    bodies=st.lists(st.text(alphabet="aB_1 .\n", max_size=30), min_size=1, max_size=4),
    word=st.from_regex("[aB_][aB_1]{0,3}", fullmatch=True),
)
def test_containing_is_substring_search(make_repository, bodies, word):
    made = make_repository()
    commit = made.commit("any", {f"{n}.py": body for n, body in enumerate(bodies)})
    with GitStore(made.folder) as store, BlobIndex(store) as opened:
        expected = [f"{n}.py" for n, body in enumerate(bodies) if word in body]
        assert holding(opened.corpus(commit, PYTHON), word) == expected


@pytest.fixture
def filled(repository, tmp_path):
    """A commit of 300 files and the cache of it."""
    commit = repository.commit("first", {f"m{n}.py": f"word_{n}_{n}x " * 40 for n in range(300)})
    with GitStore(repository.folder) as store, BlobIndex(store) as made:
        made.corpus(commit, PYTHON)
    (file,) = (tmp_path / "cache" / "words-2").glob("*.sqlite")
    return commit, file


def test_damage_that_shows_while_it_is_open_changes_no_answer(repository, filled):
    commit, file = filled
    other = repository.commit("second", {"other.py": "zeta"})
    with GitStore(repository.folder) as store, BlobIndex(store) as opened:
        earlier = opened.corpus(commit, PYTHON)
        opened._file.database.execute("PRAGMA cache_size=0")
        with file.open("r+b") as stored:
            stored.seek(4096)
            stored.write(b"\xab" * (file.stat().st_size - 4096))
        steps = []
        later = opened.corpus(other, PYTHON, lambda *step: steps.append(step))
        assert steps[-1] == (301, 301)
        assert holding(later, "zeta") == ["other.py"]
        # Words have other numbers now; those of an earlier corpus are its own.
        assert holding(earlier, "word_299_") == ["m299.py"]
        assert holding(earlier, "zeta") == []


@pytest.mark.parametrize("pages", [0, 2, 10])
def test_a_full_disk_is_told_and_the_answer_comes_from_memory(repository, caplog, pages):
    commit = repository.commit("first", {f"m{n}.py": f"word_{n}_{n}x " * 40 for n in range(600)})
    with GitStore(repository.folder) as store, BlobIndex(store) as opened:
        opened._file.database.execute(f"PRAGMA max_page_count={opened_pages(opened) + pages}")
        for _ in range(2):
            assert holding(opened.corpus(commit, PYTHON), "word_599_") == ["m599.py"]
    (told,) = caplog.messages
    assert "database or disk is full" in told
    assert str(cache_folder()) in told


def opened_pages(index):
    return index._file.database.execute("PRAGMA page_count").fetchone()[0]


def test_an_index_closes_its_file_at_the_end_of_a_block(repository):
    with GitStore(repository.folder) as store:
        with BlobIndex(store) as opened:
            pass
        with pytest.raises(sqlite3.ProgrammingError):
            opened._file.database.execute("SELECT 1")
