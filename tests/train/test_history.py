import gzip
import json
import subprocess
import sys
import tracemalloc

import pytest
from firstpage.core.errors import InputError, RunError
from firstpage.train import history
from firstpage.train.history import mine_histories
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

BODY = "class Cache:\n    def get(self):\n        return 1\n\n    def put(self):\n        return 2\n"


@pytest.fixture
def mine(tmp_path):
    """Mines repositories; their rows and the summary."""

    def run(*folders, out="rows.jsonl", **options):
        named = [(f"o/n{number}" if number else "o/n", place) for number, place in enumerate(folders)]
        summary = mine_histories(named, tmp_path / out, **options)
        content = (tmp_path / out).read_bytes()
        content = gzip.decompress(content) if out.endswith(".gz") else content
        return [json.loads(line) for line in content.splitlines()], summary

    return run


@pytest.fixture
def grown(repository):
    """A root and one commit that makes a row."""
    repository.commit("The root asks nothing", {"src/cache.py": BODY, "b.py": "0", "tests/test_b.py": "0"})
    repository.commit("Return nothing from an empty cache", {"src/cache.py": BODY.replace("1", "None")})
    return repository


def test_a_row_is_the_message_the_parent_and_what_was_changed(mine, repository):
    parent = repository.commit(
        "The root asks nothing",
        {"src/cache.py": BODY, "tests/test_cache.py": "0", "setup.py": "0", "a.md": "0"},
    )
    commit = repository.commit(
        "Return nothing from an empty cache (#12)\n\nIt raised.\n\nCloses #7\nSigned-off-by: A <a@b.org>",
        {
            "src/cache.py": BODY.replace("return 1", "return None") + "        # end\n",
            "tests/test_cache.py": "1", "tests/test_new.py": "1", "setup.py": "1", "a.md": "1", "new.py": "1",
        },
    )  # fmt: skip
    rows, summary = mine(repository.folder)
    assert rows == [
        {
            "source": "history",
            "id": commit[:12],
            "repo": "o/n",
            "commit": commit,
            "parent": parent,
            "query": "Return nothing from an empty cache\n\nIt raised.",
            "files": [
                {
                    "path": "src/cache.py",
                    "lines": [[3, 4], [7, 7]],
                    "functions": [
                        {"name": "Cache.get", "start": 2, "end": 4},
                        {"name": "Cache.put", "start": 5, "end": 7},
                    ],
                }
            ],
            "tests": ["tests/test_cache.py"],
            "beside": ["setup.py"],
        }
    ]
    assert (summary["commits"], summary["rows"], summary["dropped"]) == (2, 1, {"root": 1})
    assert summary["repositories"]["o/n"]["rows"] == 1


def test_what_stands_beside_is_the_answer_where_nothing_else_changed(mine, grown):
    grown.commit("Add a set-up that works", {"setup.py": "0", "docs/conf.py": "0"})
    grown.commit("Read the version from the package itself", {"setup.py": "1", "tests/test_b.py": "1"})
    (newest, *_), _ = mine(grown.folder)
    assert ([file["path"] for file in newest["files"]], newest["tests"], newest["beside"]) == (
        ["setup.py"], ["tests/test_b.py"], [],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("message", "files", "reason"),
    [
        ("Mend the tests of the cache module", {"tests/test_b.py": "1"}, "tests alone"),
        ("Explain how the cache is kept", {"notes.md": "1"}, "no source file"),
        ("Add a module that keeps things", {"new.py": "1"}, "new or deleted files alone"),
        ("Delete a module that keeps nothing", {"b.py": None}, "new or deleted files alone"),
        ("Fix some typos in the cache", {"b.py": "1"}, "chore"),
        ("Fixes #12", {"b.py": "1"}, "few words"),
        ("Bump version to 1.2.3", {"b.py": "1"}, "asks nothing"),
        ("Take over what is new there", {"pip/_vendor/six.py": "1"}, "vendored or generated"),
        ("Use another name for all", {f"many/{number}.py": "1" for number in range(11)}, "many files"),
        ("Use another name for all", {"b.py": "1"} | {f"many/{n}.txt": "1" for n in range(50)}, "many files"),
        (
            "Nest what the cache returns deeper",
            {"src/cache.py": BODY.replace("1", "None").replace("    ", "  ")},
            "white space alone",
        ),
        ("Move the module to a folder", {"b.py": None, "src/b.py": "0", "src/cache.py": "0"}, "moved"),
        (
            "Change each and every second line",
            {"long.py": "".join(f"{n}\nx\n" for n in range(70))},
            "many places",
        ),
    ],
)
def test_what_asks_nothing_about_source_files_is_dropped(mine, grown, message, files, reason):
    grown.commit("Add what is changed later", {"long.py": "".join(f"{n}\ny\n" for n in range(70))})
    grown.commit(message, files)
    rows, summary = mine(grown.folder)
    assert len(rows) == 1
    assert summary["dropped"][reason] == (2 if reason == "new or deleted files alone" else 1)


def test_bots_are_dropped(mine, grown):
    grown.commit("Mend what a machine found", {"b.py": "1"})
    grown.git("commit", "--quiet", "--amend", "--no-edit", "--author", "dependabot[bot] <a@example.org>")
    assert mine(grown.folder)[1]["dropped"]["bot"] == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"# @generated by a tool\nx = %d\n", "vendored or generated"),
        (b"x = 1;" * 2000 + b"%d", "vendored or generated"),
        (b"\0\1 %d", "vendored or generated"),
        (b"x = 1\n" * 1_700_000 + b"%d", "large file"),
    ],
    ids=["generated", "minified", "binary", "10 MB"],
)
def test_files_that_no_person_wrote_are_no_positives(mine, grown, content, reason):
    grown.commit("Add a file that no person wrote", {"made.py": content.replace(b"%d", b"1")})
    grown.commit("Change what no person wrote", {"made.py": content.replace(b"%d", b"2")})
    assert mine(grown.folder)[1]["dropped"][reason] == 1
    grown.commit("Change both of the files here", {"made.py": content.replace(b"%d", b"3"), "b.py": "7"})
    (newest, *_), _ = mine(grown.folder)
    assert [file["path"] for file in newest["files"]] == ["b.py"]


def test_the_same_question_is_asked_once_the_newest_time(mine, grown):
    grown.commit("Keep the cache after a reload", {"b.py": "1"})
    newest = grown.commit("Keep the cache  after a RELOAD", {"b.py": "2"})
    rows, summary = mine(grown.folder)
    assert [row["commit"] for row in rows][:1] == [newest]
    assert (len(rows), summary["dropped"]["repeated"]) == (2, 1)


def test_a_merge_request_is_asked_unless_its_only_commit_says_more(mine, grown):
    def merge(body, commits):
        grown.git("checkout", "--quiet", "-b", "topic")
        for message, files in commits:
            grown.commit(message, files)
        grown.git("checkout", "--quiet", "main")
        grown.git(
            "merge",
            "--quiet",
            "--no-ff",
            "--message",
            f"Merge pull request #1 from o/topic\n\n{body}",
            "topic",
        )
        grown.git("branch", "--quiet", "--delete", "topic")

    merge(
        "The cache forgets\n\n> It forgets all on reload\n\nCloses #3",
        [("wip", {"b.py": "1"}), ("wip", {"src/cache.py": "2"})],
    )
    merge("Keep the cache for good", [("Keep the cache for good\n\nIt was lost before.", {"b.py": "3"})])
    rows, _ = mine(grown.folder)
    assert [row["query"] for row in rows[:2]] == [
        "Keep the cache for good\n\nIt was lost before.",
        "The cache forgets\n\n> It forgets all on reload",
    ]
    assert [file["path"] for file in rows[1]["files"]] == ["b.py", "src/cache.py"]


@pytest.mark.parametrize(
    "path", ["line\nbreak.py", 'quo"te.py', "tab\t.py", ":(top)x.py", "ünï/çødé.py", "-x.py"]
)
def test_odd_names_come_through(mine, grown, path):
    grown.commit("Add an odd file", {path: "0"})
    grown.commit("Mend the odd file at last", {path: "1"})
    (newest, *_), _ = mine(grown.folder)
    assert [file["path"] for file in newest["files"]] == [path]


def test_names_and_messages_that_are_no_utf8_make_rows_of_utf8(mine, grown):
    odd = b"odd\xff.py".decode("utf-8", "surrogateescape")
    grown.commit("Add an odd file", {odd: "0", "c.py": "0"})
    stream = (
        b"commit refs/heads/main\ncommitter C <a@b> 1 +0000\ndata 21\nMend the caf\xe9 at last\n"
        b"from refs/heads/main^0\nM 644 inline c.py\ndata 1\n1\nM 644 inline odd\xff.py\ndata 1\n1\n"
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=grown.folder, input=stream, check=True)
    (newest, *_), _ = mine(grown.folder)
    assert newest["query"] == "Mend the caf\ufffd at last"
    assert [file["path"] for file in newest["files"]] == ["c.py"]


def test_other_languages_have_lines_and_no_functions(mine, grown):
    grown.commit("Add a page that shows things", {"page.js": "function f() {\n  return 1\n}\n"})
    grown.commit("Show nothing if there is none", {"page.js": "function f() {\n  return 2\n}\n"})
    (newest, *_), _ = mine(grown.folder)
    assert newest["files"] == [{"path": "page.js", "lines": [[2, 3]], "functions": []}]
    with pytest.raises(InputError, match="makes a row"):
        mine(grown.folder, suffixes=(".rs",))


def test_a_repository_of_one_commit_makes_no_row_and_no_file(mine, repository, tmp_path):
    repository.commit("The only commit there is", {"a.py": "0"})
    with pytest.raises(InputError, match=r"no commit of o/n makes a row; one takes a message"):
        mine(repository.folder)
    assert not (tmp_path / "rows.jsonl").exists()
    assert not (tmp_path / "rows.jsonl.part").exists()


def test_a_repository_without_any_commit_is_bad_input(mine, repository):
    with pytest.raises(InputError, match="has no commit 'HEAD'"):
        mine(repository.folder)


def test_a_shallow_clone_makes_rows_of_the_commits_whose_parents_it_has(mine, grown, tmp_path):
    for number in range(4):
        grown.commit(f"Mend the cache, fault number {number}", {"b.py": f"n{number}"})
    address = f"file://{grown.folder}"
    subprocess.run(["git", "clone", "--quiet", "--depth", "3", address, tmp_path / "shallow"], check=True)
    rows, summary = mine(tmp_path / "shallow")
    assert [row["query"][-1] for row in rows] == ["3", "2"]
    assert summary["dropped"] == {"root": 1}


def test_a_bare_clone_gives_the_same_bytes(mine, grown, tmp_path):
    subprocess.run(["git", "clone", "--quiet", "--bare", grown.folder, tmp_path / "bare"], check=True)
    mine(grown.folder, out="a.jsonl")
    mine(tmp_path / "bare", out="b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_partial_clone_tells_what_it_lacks(mine, grown, tmp_path):
    grown.git("config", "uploadpack.allowFilter", "true")
    address = f"file://{grown.folder}"
    subprocess.run(
        ["git", "clone", "-q", "--bare", "--filter=blob:none", address, tmp_path / "partial"], check=True
    )
    rows, summary = mine(tmp_path / "partial", grown.folder)
    assert [row["repo"] for row in rows] == ["o/n1"]
    assert summary["repositories"]["o/n"]["dropped"] == {"missing blob": 1, "root": 1}


def test_a_missing_blob_loses_its_own_file_and_nothing_else(mine, grown):
    grown.commit("Change two files at once", {"src/cache.py": BODY.replace("2", "3"), "b.py": "1"})
    grown.commit("Change one file once more", {"b.py": "2"})
    blob = grown.git("rev-parse", "HEAD~1:b.py")
    (grown.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    rows, summary = mine(grown.folder)
    assert [[file["path"] for file in row["files"]] for row in rows] == [["src/cache.py"], ["src/cache.py"]]
    assert summary["dropped"] == {"missing blob": 1, "root": 1}


def test_a_missing_tree_ends_the_run_with_a_sentence(mine, grown):
    grown.commit("Change it once more then", {"b.py": "2"})
    tree = grown.git("rev-parse", "HEAD~1^{tree}")
    (grown.folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(RunError, match="cannot be read"):
        mine(grown.folder)


def test_a_held_out_repository_under_another_name_is_refused(mine, grown, hold_out, tmp_path):
    hold_out({"base_commits": [grown.git("rev-parse", "HEAD")]})
    with pytest.raises(
        InputError, match=r"'o/n' holds commit .* of held/out, held out for a test; nothing is"
    ):
        mine(grown.folder)
    assert not (tmp_path / "rows.jsonl.part").exists()


def test_a_name_is_given_once(grown, tmp_path):
    with pytest.raises(InputError, match="'o/n' is given twice"):
        mine_histories([("o/n", grown.folder), ("o/n", grown.folder)], tmp_path / "rows.jsonl")


def test_the_newest_commits_alone(mine, grown):
    for number in range(4):
        grown.commit(f"Mend the cache, fault number {number}", {"b.py": f"n{number}"})
    rows, summary = mine(grown.folder, most=2)
    assert ([row["query"][-1] for row in rows], summary["commits"]) == (["3", "2"], 2)


def long_history(repository, count):
    stream = [
        f"commit refs/heads/main\ncommitter C <a@b> {number} +0000\ndata 40\n"
        f"{f'Mend the cache, fault number {number}':40}M 644 inline a.py\ndata 4\n{number:04}\n"
        f"M 644 inline b{number % 7}.py\ndata 4\n{number:04}\n"
        for number in range(count)
    ]
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=repository.folder, input="".join(stream).encode(), check=True
    )
    return repository


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("out", ["rows.jsonl", "rows.jsonl.gz"])
def test_it_goes_on_where_it_stopped_and_the_bytes_are_the_same(
    mine, grown, make_repository, tmp_path, monkeypatch, out
):
    monkeypatch.setattr(history, "CHUNK", 7)
    other = long_history(make_repository(), 40)
    mine(grown.folder, other.folder, out=f"whole-{out}")

    def stop(done, to_do):
        assert to_do == 42
        looked_at.append(done)
        if len(looked_at) % 3 == 0:
            raise StoppedError

    looked_at = []
    for _ in range(10):
        try:
            _, summary = mine(grown.folder, other.folder, out=out, progress=stop)
            break
        except StoppedError:
            assert not (tmp_path / out).exists()
    assert looked_at == [2, 9, 16, 23, 30, 37, 42]
    assert summary["rows"] == 40
    assert (tmp_path / out).read_bytes() == (tmp_path / f"whole-{out}").read_bytes()
    mine(grown.folder, other.folder, out=out)
    assert (tmp_path / out).read_bytes() == (tmp_path / f"whole-{out}").read_bytes()


def test_a_question_repeated_beyond_a_stop_is_still_asked_once(mine, grown, monkeypatch):
    monkeypatch.setattr(history, "CHUNK", 1)
    for number in range(3):
        grown.commit("Keep the cache after a reload", {"b.py": f"n{number}"})
    _, summary = mine(grown.folder)

    def stop(done, to_do):
        raise StoppedError

    with pytest.raises(StoppedError):
        mine(grown.folder, out="again.jsonl", progress=stop)
    assert mine(grown.folder, out="again.jsonl")[1]["dropped"] == summary["dropped"]


def test_what_was_begun_is_left_when_the_repository_moved_on(mine, grown, monkeypatch):
    monkeypatch.setattr(history, "CHUNK", 1)

    def stop(done, to_do):
        raise StoppedError

    with pytest.raises(StoppedError):
        mine(grown.folder, progress=stop)
    grown.commit("Keep the cache after a reload", {"b.py": "later"})
    assert mine(grown.folder)[0][0]["query"] == "Keep the cache after a reload"


def test_killed_at_any_moment_it_goes_on(make_repository, tmp_path):
    folder = long_history(make_repository(), 2500).folder
    mine_histories([("o/n", folder)], tmp_path / "whole.jsonl.gz")
    out = tmp_path / "rows.jsonl.gz"
    code = (
        "import sys; from firstpage.train.history import mine_histories\n"
        f"mine_histories([('o/n', {str(folder)!r})], {str(out)!r}, progress=lambda *_: print('', flush=True))"
    )
    for after in (0, 1, 3):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as running:
            for _ in range(after):
                running.stdout.readline()
            running.kill()
        assert not out.exists()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.count(b"\n") < 5  # of five chunks, at least one was there
    assert out.read_bytes() == (tmp_path / "whole.jsonl.gz").read_bytes()


def test_memory_does_not_grow_with_the_history(make_repository, tmp_path):
    peaks = []
    for count in (1000, 4000):
        folder = long_history(make_repository(), count).folder
        tracemalloc.start()
        mine_histories([("o/n", folder)], tmp_path / "rows.jsonl")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 1_000_000


names = st.sampled_from(["a.py", "b/c.py", "tests/test_a.py", "setup.py", "notes.md", "_vendor/x.py"])
contents = st.sampled_from([None, "x\n", "def f():\n    return 1\n", "def f():\n    return 2\n", "\n\ny\n"])
messages = st.sampled_from(
    ["Mend what is broken in it", "typo", "Keep the cache after a reload", "Fix #12", "Bump to 1.2.3"]
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(messages, st.dictionaries(names, contents, max_size=4)), min_size=1, max_size=6))
def test_whatever_the_history_each_commit_is_a_row_or_dropped(make_repository, tmp_path, written):
    repository = make_repository()
    here = {}
    for message, files in written:
        changed = {path: body for path, body in files.items() if body is not None or path in here}
        here = {path: body for path, body in {**here, **changed}.items() if body is not None}
        repository.commit(message, changed)
    try:
        summary = mine_histories([("o/n", repository.folder)], tmp_path / "rows.jsonl")
    except InputError:
        return
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_bytes().splitlines()]
    assert len(rows) == summary["rows"] == len(written) - sum(summary["dropped"].values())
    for row in rows:
        there = repository.git("ls-tree", "-r", "--name-only", row["parent"]).split("\n")
        for file in row["files"]:
            assert file["path"] in there
            assert file["path"] in {"a.py", "b/c.py", "setup.py"}
            length = int(repository.git("grep", "-c", "", row["parent"], "--", file["path"]).split(":")[-1])
            assert all(1 <= start <= end <= length + 1 for start, end in file["lines"])
        assert set(row["tests"]) <= {"tests/test_a.py"} & set(there)
