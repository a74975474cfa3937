"""``firstpage candidates`` as a person runs it."""

import json
import os

import pytest

FILES = {f"src/m{number:02}.py": f"SIZE = {number}\n" for number in range(12)} | {
    "src/cache.py": "def reload_cache():\n    return stale\n",
    "src/view.py": "from cache import reload_cache\n",
    "tests/test_cache.py": "def test_reload_cache(): ...\n",
    "notes.md": "reload_cache is explained here\n",
}
QUESTION = "reload_cache returns what is stale"


@pytest.fixture(scope="session")
def shop(make_repository):
    """Two commits: the second takes the answer away and adds another module."""
    repository = make_repository()
    repository.commit("Open the shop", FILES)
    repository.commit("Take it away", {"src/cache.py": None, "src/newer.py": "reload_cache = stale = 1\n"})
    return repository


def test_the_files_of_a_commit_are_listed_without_its_being_checked_out(firstpage, shop):
    listed = {
        commit: firstpage("candidates", "-q", QUESTION, "--repo", shop.folder, "--commit", commit).lines
        for commit in ("HEAD", "HEAD~1")
    }
    assert listed["HEAD~1"][0] == "src/cache.py"
    assert "src/newer.py" not in listed["HEAD~1"]
    assert "src/newer.py" in listed["HEAD"]
    assert "src/cache.py" not in listed["HEAD"]


def test_each_generator_has_its_order(firstpage, shop):
    asked = ("candidates", "-q", QUESTION, "--repo", shop.folder, "--commit", "HEAD~1")
    grep = firstpage(*asked, "-g", "grep").lines
    bm25 = firstpage(*asked, "-g", "bm25").lines
    union = firstpage(*asked).lines
    assert grep == ["src/cache.py"]  # the one that holds both `reload_cache` and `stale`
    assert bm25[0] == "src/cache.py"
    assert union[: len(bm25)] == bm25
    assert set(union) == {*grep, *bm25}
    assert firstpage(*asked, "-g", "bm25", "--limit", "1").lines == ["src/cache.py"]


def test_a_value_function_ranks_what_was_generated(firstpage, shop):
    asked = ("candidates", "-q", QUESTION, "--repo", shop.folder)
    assert firstpage(*asked, "-f", "reversed").lines == firstpage(*asked).lines[::-1]


def test_suffixes_say_which_files_count(firstpage, shop):
    asked = ("candidates", "-q", QUESTION, "--repo", shop.folder)
    assert firstpage(*asked, "--suffix", ".md").lines == ["notes.md"]
    both = firstpage(*asked, "--suffix", ".md", "--suffix", "view.py").lines
    assert sorted(both) == ["notes.md", "src/view.py"]


def test_json_names_the_blob_of_each_path_in_the_order_of_the_text(firstpage, shop):
    asked = ("candidates", "-q", QUESTION, "--repo", shop.folder, "--commit", "HEAD~1")
    told = json.loads(firstpage(*asked, "--json").out)
    assert [row["path"] for row in told] == firstpage(*asked).lines
    assert told[0]["blob"] == shop.git("rev-parse", "HEAD~1:src/cache.py")


def test_nothing_but_the_answer_is_printed_the_first_time_and_the_next(firstpage, shop):
    asked = ("candidates", "-q", QUESTION, "--repo", shop.folder)
    cold, warm = firstpage(*asked), firstpage(*asked)
    assert (cold.status, cold.err) == (0, "")
    assert warm == cold


def test_a_bare_clone_and_a_folder_inside_a_work_tree_will_do(firstpage, shop, tmp_path):
    shop.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    asked = ("candidates", "-q", QUESTION)
    here = firstpage(*asked, cwd=shop.folder / "src")
    assert here.lines
    assert firstpage(*asked, "--repo", tmp_path / "bare.git").out == here.out


def test_a_query_that_says_nothing_still_gets_what_grep_falls_back_to(firstpage, shop):
    assert firstpage("candidates", "-q", "the of and", "--repo", shop.folder, "-g", "bm25").out == b""
    assert len(firstpage("candidates", "-q", "the of and", "--repo", shop.folder, "-g", "grep").lines) == 15


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_names_that_are_no_utf8_come_as_their_bytes_in_any_locale(firstpage, repository, locale, monkeypatch):
    monkeypatch.setenv("LC_ALL", locale)
    monkeypatch.setenv("PYTHONCOERCECLOCALE", "0")
    monkeypatch.setenv("PYTHONUTF8", "0")
    with open(os.fsencode(repository.folder) + b"/caf\xe9.py", "wb") as file:
        file.write(b"x")
    repository.commit("Add names", {"ünï.py": "x"})
    done = firstpage("candidates", "-q", "x", "--repo", repository.folder, "-g", "grep")
    assert sorted(done.out.splitlines()) == [b"caf\xe9.py", "ünï.py".encode()]
    told = firstpage("candidates", "-q", "x", "--repo", repository.folder, "-g", "grep", "--json")
    assert {row["path"] for row in json.loads(told.out)} == {"caf\udce9.py", "ünï.py"}


REFUSED = {
    "a missing repository": (["--repo", "nowhere"], ["there is no repository at nowhere"]),
    "a folder that is none": (["--repo", "plain"], ["plain is no git repository"]),
    "a missing commit": (["--commit", "no-such"], ["has no commit 'no-such'; fetch it first"]),
    "an option as commit": (["--commit", "--all"], ["has no commit '--all'"]),
    "an unknown generator": (["-g", "unoin"], ["no candidate generator 'unoin'", "did you mean 'union'?"]),
    "an unknown function": (["-f", "bm26"], ["no value function 'bm26'", "did you mean 'bm25'?"]),
    "no limit": (["--limit", "0"], ["--limit"]),
    "a missing query file": (["-q", "@nowhere"], ["--query cannot read the file 'nowhere'"]),
}


@pytest.mark.parametrize(("options", "said"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_one_sentence(in_process, shop, tmp_path, monkeypatch, options, said):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "plain").mkdir()
    where = [] if "--repo" in options else ["--repo", shop.folder]
    done = in_process("candidates", "-q", QUESTION, *where, *options, cwd=tmp_path)
    assert done.is_refused(*said)


def test_a_repository_without_a_commit_is_bad_input(firstpage, repository):
    done = firstpage("candidates", "-q", "x", "--repo", repository.folder)
    assert done.is_refused("has no commit 'HEAD'")


def test_a_cache_that_cannot_be_made_is_one_sentence(firstpage, shop, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FIRSTPAGE_CACHE", str(tmp_path / "file" / "cache"))
    done = firstpage("candidates", "-q", "x", "--repo", shop.folder)
    assert done.is_refused("Not a directory", "cache", status=1)
