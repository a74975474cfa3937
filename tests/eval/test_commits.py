import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from firstpage.core.commits import without_trailers
from firstpage.core.errors import InputError
from firstpage.core.git import GitStore
from firstpage.eval.commits import Commit, history, task_from, tasks_of
from firstpage.eval.tasks import Task
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def tasks(folder: Path, limit: int = 100, suffixes: Sequence[str] = (".py",)) -> list[Task]:
    with GitStore(folder) as store:
        return tasks_of(store, "o/n", suffixes, limit)


def queries(folder: Path) -> list[str]:
    return [task.query for task in tasks(folder)]


def commit(message: str, author: str = "A Person", changes: Sequence[tuple[str, str]] = (("M", "a.py"),)):
    return Commit("c" * 40, "b" * 40, author, message, changes)


def task(*arguments, **options) -> Task | None:
    return task_from(commit(*arguments, **options), "o/n", (".py",))


@pytest.fixture
def grown(repository):
    """A repository with a root commit and one that makes a task."""
    repository.commit("The root asks nothing", {"a.py": "0", "b.py": "0", "notes.md": "0"})
    repository.commit("Mend the first fault", {"a.py": "1"})
    return repository


def test_a_task_is_the_message_the_parent_and_the_files_that_were_changed(repository):
    base = repository.commit("First of all", {"src/a.py": "0", "gone.py": "0", "z.py": "0", "notes.md": "0"})
    name = repository.commit(
        "The cache is stale\n\nIt keeps what was there before.",
        {"src/a.py": "1", "z.py": "1", "gone.py": None, "new.py": "1", "notes.md": "1"},
    )
    assert tasks(repository.folder) == [
        Task(
            instance_id=name[:12],
            repo="o/n",
            base_commit=base,
            query="The cache is stale\n\nIt keeps what was there before.",
            gold=["src/a.py", "z.py"],
        )
    ]


def test_nothing_newer_than_the_parent_is_in_a_task_s_commit(grown):
    grown.commit("Add another module here", {"a.py": "2", "newer.py": "2"})
    grown.commit("Mend the other module", {"newer.py": "3"})
    with GitStore(grown.folder) as store:
        seen = [
            [file.path for file in store.files(task.base_commit, (".py",))]
            for task in tasks_of(store, "o/n", (".py",), 10)
        ]
    assert seen == [["a.py", "b.py", "newer.py"], ["a.py", "b.py"], ["a.py", "b.py"]]


def test_the_newest_come_first_up_to_the_limit(grown):
    for number in range(4):
        grown.commit(f"Mend fault number {number}", {"a.py": f"n{number}"})
    assert [task.query for task in tasks(grown.folder, limit=2)] == [
        "Mend fault number 3",
        "Mend fault number 2",
    ]
    assert len(tasks(grown.folder, limit=5)) == 5


def test_suffixes_say_which_files_count(grown):
    grown.commit("Explain it in the notes", {"notes.md": "1"})
    assert queries(grown.folder) == ["Mend the first fault"]
    (newest,) = tasks(grown.folder, suffixes=(".md",))
    assert newest.gold == ["notes.md"]


def test_a_merge_makes_no_task_and_what_it_merges_does(grown):
    grown.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    grown.commit("Mend it on the side", {"b.py": "side"})
    grown.git("checkout", "--quiet", "main")
    grown.git("merge", "--quiet", "--no-ff", "--message", "Bring both lines together", "topic")
    assert sorted(queries(grown.folder)) == ["Mend it on the side", "Mend the first fault"]


def test_a_revert_by_git_makes_no_task(grown):
    grown.git("revert", "--no-edit", "HEAD")
    assert queries(grown.folder) == ["Mend the first fault"]


def test_a_revert_in_other_words_is_known_by_its_body_but_not_a_squash_that_held_one():
    reverts = f"\n\nThis reverts commit {'1' * 40}.\n"
    assert task("Refs #7 -- the cache is back" + reverts) is None
    assert task("Speed up the cache\n\n* try it\n\n* undo it" + reverts) is not None


@pytest.mark.parametrize("count", [10, 11])
def test_more_than_ten_files_are_a_sweep(grown, count):
    grown.commit("Touch a lot of files", {f"many/{number}.py": "0" for number in range(count)})
    grown.commit("Format all of the files", {f"many/{number}.py": "1" for number in range(count)})
    assert ("Format all of the files" in queries(grown.folder)) == (count == 10)


def test_files_moved_to_another_folder_make_no_task_unless_most_was_changed_in_place(grown):
    grown.commit("Add two more modules", {"c.py": "0", "d.py": "0"})
    grown.commit("Move modules to a folder", {"c.py": None, "src/c.py": "0", "a.py": "import src"})
    grown.commit("Rename one and mend callers", {"d.py": None, "src/d.py": "0", "a.py": "x", "b.py": "x"})
    assert queries(grown.folder) == ["Rename one and mend callers", "Mend the first fault"]


@pytest.mark.parametrize("message", ["", "typo", "Mend it", "Mend it\n\nSigned-off-by: A Person <p@x.org>"])
def test_fewer_than_three_words_ask_nothing(grown, message):
    (grown.folder / "a.py").write_text("another")
    grown.git("commit", "--quiet", "--all", "--allow-empty-message", "--message", message)
    assert queries(grown.folder) == ["Mend the first fault"]


@pytest.mark.parametrize(
    "author", ["dependabot[bot]", "sympy-bot", "Release Bot", "pre-commit-ci", "renovate"]
)
def test_bots_ask_nothing(grown, author):
    grown.commit("Mend what a machine found", {"a.py": "2"})
    grown.git("commit", "--quiet", "--amend", "--no-edit", "--author", f"{author} <bot@example.org>")
    assert queries(grown.folder) == ["Mend the first fault"]


@pytest.mark.parametrize("author", ["Jan Bot", "Ann Abbot", "Botond", "Robot Jones"])
def test_people_with_such_names_do(author):
    assert task("The cache is stale", author=author) is not None


@pytest.mark.parametrize(
    "subject",
    """
    Revert "Mend the cache once more"
    Reverted "Fixed #123 -- Mended the cache."
    revert: feat: keep the cache
    revert(core): keep the cache
    Revert 1a2b3c4d, which broke the cache
    Revert PR #12 for now
    Reapply "Mend the cache once more"
    Merge branch 'main' into topic
    Merge remote-tracking branch 'origin/main'
    Merge pull request #12 from someone/topic
    Merge branch main into topic
    Merged in topic (pull request #3)
    fixup! Mend the cache
    Bump version to 1.2.3
    Bump minimum Python version
    Bump requests from 2.0 to 2.1
    Bump actions/checkout from 3 to 4
    Bump the pip group with 3 updates
    Bumped to 2.0.0 at last
    chore: bump version to 3.4.5
    build(deps): bump requests from 2.0 to 3.0
    Release 1.2.3 of the library
    Release v3
    chore(release): 1.2.3
    [release] 1.2.3
    Version 1.2.3
    version bump for today
    v1.2.3 release
    2.0.dev0
    Prepare for 2.0 release
    Start work on version 1.3
    Post-release 1.2.3
    Back to development: 1.4
    Update all dependencies
    Update changelog for 3.2
    """.strip().split("\n"),
)
def test_these_subjects_ask_nothing(subject):
    assert task(f"{subject.strip()}\n\nWith a body of a few words.") is None


@pytest.mark.parametrize(
    "subject",
    """
    Merge sort is slow on sorted input
    Merge conflicts are shown twice
    Merge branch predictor tables
    Merge main loop and event loop
    Revert-button does nothing
    Revert to the old parser for nested quotes
    Reverting a migration twice fails
    Bump allocator leaks
    Bump allocator leaks on Windows with many threads
    Bump the timeout of slow hosts
    Release the lock on errors
    Releasing a semaphore twice raises
    fix: release the lock on errors
    Version check fails on PyPy
    Version 2 cookies are refused
    Versions are compared as text
    3.11 compatibility: read TOML with the library
    2.5 times faster parsing
    Start server with Python 3.11 fails
    Prepare statements once per cursor
    Tag names are escaped twice
    Cut long names in tables
    Back to top link is broken
    Post-release hooks are called twice
    Update dependency graph when a node is removed
    Squash commits in the log view
    """.strip().split("\n"),
)
def test_subjects_that_only_start_alike_make_tasks(subject):
    made = task(subject.strip() + "\n\nWith a body of a few words.")
    assert made is not None
    assert made.query.startswith(subject.strip())


def test_trailers_are_no_part_of_the_query():
    message = """The cache is stale

Link between both: it keeps what
was there.

Closes #12
Signed-off-by: A Person <person@example.org>
co-authored-by: Another <other@example.org>
Reviewed-by : A Third
Change-Id: I0123456789
Cc: list@example.org
Link: https://example.org/1
(cherry picked from commit 0123456)
"""
    assert without_trailers(message) == (
        "The cache is stale\n\nLink between both: it keeps what\nwas there.\n\nCloses #12"
    )


ODD = [
    "separators \x1e and \x1f of old and \x1f more \x1f and \x1f again",
    "tabs\tand\x0bfeeds\x0care fine",
    "ünï çødé 漢字 \U0001f600 in it",
    "M\n\nD\n\ncommit 0123456789012345678901234567890123456789\n\nA\n\na.py",
    "quotes \" and ' and \\ and $(x) and %H here",
]


@pytest.mark.parametrize("message", ODD)
def test_messages_come_through_whatever_is_in_them(grown, message):
    grown.commit(message, {"a.py": "odd", "b.py": "odd"})
    newest, before = tasks(grown.folder)
    assert (newest.query, newest.gold) == (message, ["a.py", "b.py"])
    assert before.query == "Mend the first fault"


def test_a_message_in_another_encoding_is_read(grown):
    (grown.folder / "a.py").write_text("2")
    (grown.folder.parent / "message").write_bytes(b"caf\xe9 is stale")
    grown.git("-c", "i18n.commitEncoding=latin-1", "commit", "--all", "--file", "../message")
    assert queries(grown.folder) == ["café is stale", "Mend the first fault"]


def test_bytes_of_a_message_that_are_no_utf8_are_kept(repository):
    repository.commit("The root asks nothing", {"a.py": "0"})
    message = b"caf\xe9 is stale".decode("utf-8", "surrogateescape")
    import_stream(
        repository.folder,
        f"commit refs/heads/main\ncommitter C <a@b> 1 +0000\ndata 13\n{message}\n"
        "from refs/heads/main^0\nM 644 inline a.py\ndata 1\n1\n",
    )
    assert queries(repository.folder) == [message]


def test_a_person_s_settings_of_git_change_nothing(grown):
    before = tasks(grown.folder)
    grown.git("config", "log.showSignature", "true")
    grown.git("config", "i18n.logOutputEncoding", "latin-1")
    grown.git("config", "diff.renames", "copies")
    grown.git("config", "color.ui", "always")
    grown.git("config", "format.pretty", "oneline")
    assert tasks(grown.folder) == before


@pytest.mark.parametrize("path", ["line\nbreak.py", 'quo"te.py', "tab\t.py", "\x1e.py", "M", "sp ace/ünï.py"])
def test_paths_come_through_whatever_is_in_them(grown, path):
    grown.commit("Add an odd file", {path: "0"})
    grown.commit("Mend the odd file", {path: "1"})
    (newest, *_) = tasks(grown.folder, suffixes=("",))
    assert newest.gold == [path]


lines = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
names = st.text(st.characters(exclude_characters="\0<>\n", exclude_categories=["Cs", "Cc", "Z"]), min_size=1)
paths = st.text("aM\n\t\x1e\"'é ", min_size=1, max_size=5).map("f{}.py".format)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(lines, names, st.sets(paths, max_size=3)), min_size=1, max_size=6))
def test_a_history_is_read_as_it_was_written(make_repository, written):
    repository = make_repository()
    stream = []
    for number, (message, author, changed) in enumerate(written):
        stream += [
            f"commit refs/heads/main\nauthor {author} <a@b> {number} +0000\n"
            f"committer C <a@b> {number} +0000\ndata {len(message.encode())}\n{message}\n"
        ]
        stream += [f"M 644 inline {quoted(path)}\ndata 9\n{number:09}\n" for path in sorted(changed)]
    import_stream(repository.folder, "".join(stream))
    with GitStore(repository.folder) as store:
        read = list(history(store))[::-1]
    seen: set[str] = set()
    for one, before, (message, author, changed) in zip(read, [None, *read], written, strict=False):
        assert (one.author, one.message.strip()) == (author, message.strip())
        assert one.parent == (before.name if before else "")
        assert {path: status for status, path in one.changes} == {
            path: "M" if path in seen else "A" for path in changed
        }
        seen |= changed
    assert len(read) == len(written)


def quoted(path: str) -> str:
    return '"' + "".join(f"\\{byte:03o}" for byte in path.encode()) + '"'


def import_stream(folder: Path, stream: str) -> None:
    content = stream.encode("utf-8", "surrogateescape")
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=content, check=True)


def test_a_long_history_is_read_once_from_end_to_end(repository):
    count = 1203
    import_stream(
        repository.folder,
        "".join(
            f"commit refs/heads/main\ncommitter C <a@b> {number} +0000\ndata 4\n{number:04}\n"
            f"M 644 inline a.py\ndata 4\n{number:04}\n"
            for number in range(count)
        ),
    )
    with GitStore(repository.folder) as store:
        assert [int(one.message) for one in history(store)] == list(range(count))[::-1]


def test_a_shallow_clone_makes_tasks_of_the_commits_whose_parents_it_has(grown, tmp_path):
    for number in range(4):
        grown.commit(f"Mend fault number {number}", {"a.py": f"n{number}"})
    address = f"file://{grown.folder}"
    subprocess.run(["git", "clone", "--quiet", "--depth", "3", address, tmp_path / "shallow"], check=True)
    found = tasks(tmp_path / "shallow")
    assert [task.query for task in found] == ["Mend fault number 3", "Mend fault number 2"]
    with GitStore(tmp_path / "shallow") as store:
        assert all(store.files(task.base_commit, (".py",)) for task in found)


def test_a_bare_clone_gives_the_same_tasks(grown, tmp_path):
    subprocess.run(["git", "clone", "--quiet", "--bare", grown.folder, tmp_path / "bare"], check=True)
    assert tasks(tmp_path / "bare") == tasks(grown.folder)


def test_a_repository_without_any_task_is_told_what_makes_one(repository):
    repository.commit("The only commit there is", {"a.py": "0"})
    with pytest.raises(InputError, match=r"no commit of o/n makes a task; it takes .* three words"):
        tasks(repository.folder)


def test_a_repository_without_any_commit_is_bad_input(repository):
    with pytest.raises(InputError, match="has no commit 'HEAD'"):
        tasks(repository.folder)
