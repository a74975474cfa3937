import itertools
import random
import shutil
from pathlib import Path

import pytest
from firstpage.core.errors import InputError
from firstpage.core.formats import encode, parse
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"
PRODUCERS = {
    "diff": ["git", "diff", "--binary", "-M", "HEAD~1", "HEAD"],
    "show": ["git", "show", "--binary", "HEAD"],
    "format-patch": ["git", "format-patch", "--stdout", "--binary", "HEAD~1"],
    "no renames": ["git", "diff", "--binary", "--no-renames", "HEAD~1", "HEAD"],
    "one line of context": ["git", "diff", "--binary", "-U1", "HEAD~1", "HEAD"],
}


@pytest.fixture
def before(repo: Path, run, tmp_path: Path) -> Path:
    """The repository as it was before its second commit."""
    folder = tmp_path / "before"
    run(tmp_path, "git", "clone", "-q", str(repo), str(folder))
    run(folder, "git", "checkout", "-q", "HEAD~1")
    return folder


@pytest.mark.parametrize("producer", PRODUCERS)
def test_pages_of_any_files_and_hunks_apply(producer: str, repo: Path, before: Path, run, check_page) -> None:
    text = run(repo, *PRODUCERS[producer])
    answer = parse(text)
    assert answer.form == "diff"
    assert answer.render(answer.items) == text
    count = len(answer.items)
    chance = random.Random(0)
    for size in range(1, count + 1):
        places = chance.sample(range(count), size)
        page = check_page(text, "diff", places, chance.choice(["", NOTE]))
        run(before, "git", "apply", "--check", "-", stdin=encode(page))
    parts = [part for item in answer.items for part in answer.split(item) or [item]]
    assert len(parts) > count
    assert answer.render(parts) == text
    for size in range(1, len(parts) + 1):
        chosen = chance.sample(parts, size)
        page = answer.render(chosen, NOTE)
        assert len(page) <= len(answer.render([], NOTE)) + sum(len(answer.piece(part)) for part in chosen)
        run(before, "git", "apply", "--check", "-", stdin=encode(page))


def test_a_page_with_everything_makes_the_next_commit(repo: Path, before: Path, run) -> None:
    answer = parse(run(repo, *PRODUCERS["show"]))
    page = answer.render(answer.items[::-1], NOTE)
    run(before, "git", "apply", "--index", "-", stdin=encode(page))
    assert run(before, "git", "write-tree") == run(repo, "git", "rev-parse", "HEAD^{tree}")


def test_hunks_keep_their_order(repo: Path, run) -> None:
    answer = parse(run(repo, *PRODUCERS["diff"]))
    item = next(item for item in answer.items if item.path == "src/deep/a-1-b/x.py")
    first, second, third = answer.split(item)
    assert [part.metadata["line"] for part in (first, second, third)] == [1, 18, 39]
    page = answer.render([third, answer.items[0], first])
    assert page.index(first.text) < page.index(third.text) < page.index(answer.items[0].text)
    assert page.count("diff --git") == 2
    assert not answer.split(second)


def test_reads_the_paths_of_all_kinds_of_change(repo: Path, run) -> None:
    answer = parse(run(repo, *PRODUCERS["diff"]))
    names = run(repo, "git", "diff", "-M", "--name-only", "-z", "HEAD~1", "HEAD").split("\0")[:-1]
    assert [item.path for item in answer.items] == names
    prefixed = parse(run(repo, "git", "-c", "diff.mnemonicPrefix=true", *PRODUCERS["diff"][1:]))
    bare = parse(run(repo, "git", "-c", "diff.noprefix=true", *PRODUCERS["diff"][1:]))
    assert [item.path for item in prefixed.items] == [item.path for item in bare.items] == names


def test_every_commit_stands_above_its_own_files(repo: Path, run, check_page) -> None:
    text = run(repo, "git", "log", "-p", "--binary")
    answer = parse(text, "diff")
    assert not answer.header
    assert answer.render(answer.items) == text
    new, old = answer.items[0], answer.items[-1]
    page = answer.render([old, new], NOTE)
    assert (
        page.index("First commit") < page.index(old.text) < page.index("Second commit") < page.index(new.text)
    )
    assert "Second commit" not in answer.render([old])
    check_page(text, "diff", range(len(answer.items) - 1, -1, -3), NOTE)
    single = parse(run(repo, "git", "show"))
    assert "Second commit" in single.header


def test_reads_a_merge(tmp_path: Path, run) -> None:
    git = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")
    run(tmp_path, *git, "init", "-q", "-b", "main")
    for name, lines in {
        "base": "a\nb\nc\nd\n",
        "ours": "a\nOURS\nc\nd\n",
        "theirs": "a\nb\nTHEIRS\nd\n",
    }.items():
        if name != "base":
            run(tmp_path, *git, "checkout", "-q", "-b", name, "main")
        (tmp_path / "f.py").write_text(lines)
        (tmp_path / "g.py").write_text(lines * 9)
        run(tmp_path, *git, "add", ".")
        run(tmp_path, *git, "commit", "-qm", name)
    run(tmp_path, *git, "merge", "-q", "ours")
    (tmp_path / "f.py").write_text("a\nBOTH\nd\n--- x\n")
    (tmp_path / "g.py").write_text("a\nBOTH\nd\n" * 9)
    run(tmp_path, *git, "add", ".")
    run(tmp_path, *git, "commit", "-qm", "merge")
    text = run(tmp_path, "git", "show")
    answer = parse(text)
    assert [item.path for item in answer.items] == ["f.py", "g.py"]
    assert answer.items[1].text.startswith("diff --cc g.py\n")
    assert answer.render(answer.items) == text


def test_reads_plain_diffs_of_folders(tmp_path: Path, run, check_page) -> None:
    for folder, words in (("old", "one"), ("new", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text(f"x\n-- {words}\n")
        (tmp_path / folder / "b.bin").write_text(f"\0{words}")
        (tmp_path / folder / "c.py").write_text(words)
        (tmp_path / folder / f"only {folder}.py").write_text(words)
    text = run(tmp_path, "diff", "-ru", "old", "new")
    answer = parse(text)
    assert answer.form == "diff"
    assert answer.render(answer.items) == text
    assert [item.path for item in answer.items] == [
        "new/a.py",
        "new/b.bin",
        "new/c.py",
        "new/only new.py",
        "old/only old.py",
    ]
    page = check_page(text, "diff", [2, 0, 4], NOTE)
    if shutil.which("patch"):
        run(tmp_path, "patch", "-p0", "-f", stdin=encode(page))
        assert (tmp_path / "old/a.py").read_text() == "x\n-- two\n"


FILE = "diff --git a/{0} b/{0}\nindex 1..2 100644\n--- a/{0}\n+++ b/{0}\n"
line = st.text("ab-+@\\ \r\x0c", max_size=4)
hunk = st.lists(st.tuples(st.sampled_from(" -+"), line), min_size=1, max_size=5).map(
    lambda lines: (
        f"@@ -1,{sum(sign != '+' for sign, _ in lines)} +1,{sum(sign != '-' for sign, _ in lines)} @@ f()\n"
        + "".join(f"{sign}{text}\n" for sign, text in lines)
    )
)
hunks = st.lists(hunk, min_size=1, max_size=3)
commits = st.lists(st.lists(hunks, min_size=1, max_size=3), min_size=1, max_size=3)


@given(commits, st.booleans(), st.sampled_from(["", "-- \n2.39.5\n\n"]), st.data())
def test_pages_hold_the_chosen_files(check_page, series, with_messages, footer, data) -> None:
    name = map("f{}.py".format, itertools.count())
    text = "\n".join(
        f"commit {number}\n\n    --- a\n    +++ b\n\n" * with_messages
        + "".join(FILE.format(next(name)) + "".join(hunks) for hunks in files)
        for number, files in enumerate(series)
    )
    text += footer
    answer = parse(text, "diff")
    assert answer.render(answer.items) == text
    assert [item.path for item in answer.items] == [f"f{place}.py" for place in range(sum(map(len, series)))]
    places = data.draw(st.permutations(range(len(answer.items))))[
        : data.draw(st.integers(0, len(answer.items)))
    ]
    check_page(text, "diff", places, data.draw(st.sampled_from(["", NOTE])))
    parts = [part for item in answer.items for part in answer.split(item)]
    assert sum(len(part.text) for part in parts) == sum(
        len("".join(hunks)) - len(hunks) for files in series for hunks in files if len(hunks) > 1
    )


@pytest.mark.parametrize(
    ("header", "path"),
    [
        ("--- a/x.py\n+++ b/x.py\n", "x.py"),
        ("--- a/x y.py\t\n+++ b/x y.py\t\n", "x y.py"),
        ("--- x.py\t2024-01-01 12:00:00\n+++ x.py\t2024-01-02 12:00:00\n", "x.py"),
        ("--- /dev/null\n+++ b/x.py\n", "x.py"),
        ("--- a/x.py\n+++ /dev/null\n", "x.py"),
        ('--- "a/\\303\\244.py"\n+++ "b/\\303\\244.py"\n', "ä.py"),
        ("diff --git a/x b/x\r\nindex 1..2\r\n--- a/x\r\n+++ b/x\r\n", "x"),
        ("diff --git a/a/x a/a/x\nindex 1..2\n--- a/a/x\n+++ a/a/x\n", "a/a/x"),
    ],
)
def test_reads_the_path_of_a_header(header: str, path: str) -> None:
    answer = parse(f"{header}@@ -1 +1 @@\n-a\n+b\n", "diff")
    assert [item.path for item in answer.items] == [path]


@pytest.mark.parametrize(
    "text",
    [
        "no diff\n",
        "--- a\n+++ b\nno hunk\n",
        "--- a\n",
        "diff -u is a command\n",
        "@@ -1 +1 @@\n",
    ],
)
def test_what_is_no_diff_is_an_input_error(text: str) -> None:
    with pytest.raises(InputError, match="no answer in the form 'diff'"):
        parse(text, "diff")


@pytest.mark.parametrize("options", [["--stat", "-p"], ["--stat", "-p", "--color=always"]])
def test_lines_of_a_stat_are_items_before_the_files(options: list[str], repo: Path, run, check_page) -> None:
    text = run(repo, "git", "diff", "-M", "--binary", *options, "HEAD~1")
    answer = parse(text)
    count = len(answer.items) // 2
    names = run(repo, "git", "diff", "-M", "--name-only", "-z", "HEAD~1", "HEAD").split("\0")[:-1]
    assert [item.path for item in answer.items] == [*names, None, *names]
    assert answer.render(answer.items) == text
    parts = [part for item in answer.items for part in answer.split(item) or [item]]
    assert answer.render(parts) == text
    page = check_page(text, "diff", [count + 1, 1, 0], NOTE)
    assert page == answer.render([answer.items[0], answer.items[1], answer.items[count + 1]], NOTE)
    assert page.startswith("\n".join(item.text for item in answer.items[:2]) + "\n\n")


def test_every_patch_of_a_mailbox_ends_with_its_own_signature(tmp_path: Path, run) -> None:
    git = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")
    run(tmp_path, *git, "init", "-q", "-b", "main")
    for number in range(4):
        (tmp_path / f"f{number}.py").write_text("x\n")
        run(tmp_path, *git, "add", ".")
        run(tmp_path, *git, "commit", "-qm", f"Commit {number}")
    text = run(tmp_path, "git", "format-patch", "--stdout", "HEAD~3")
    answer = parse(text)
    assert (answer.form, answer.header, answer.footer) == ("diff", "", "")
    assert answer.render(answer.items) == text
    page = answer.render([answer.items[2], answer.items[0]], NOTE)
    assert page.startswith("From ")
    assert page.count("\n-- \n") == 2
    assert len(page) <= len(answer.render([], NOTE)) + sum(
        len(answer.piece(answer.items[place])) for place in (0, 2)
    )
    run(tmp_path, *git, "reset", "-q", "--hard", "HEAD~3")
    run(tmp_path, *git, "am", "-q", stdin=encode(page))
    assert run(tmp_path, "git", "log", "--format=%s").split() == ["Commit", "1", "Commit", "3", "Commit", "0"]


def test_text_above_the_first_file_is_not_repeated_where_another_file_comes_first(repo: Path, run) -> None:
    answer = parse(run(repo, "git", "show", "HEAD"))
    assert answer.header
    assert answer.render([answer.items[1], answer.items[0]]).count("Second commit") == 1


def test_colours_are_looked_through_and_kept(repo: Path, run) -> None:
    command = ["git", "diff", "-M", "--color=always", "HEAD~1"]
    answer, plain = parse(run(repo, *command)), parse(run(repo, *command[:3], *command[4:]))
    assert answer.form == "diff"
    assert [item.path for item in answer.items] == [item.path for item in plain.items]
    assert all("\x1b[" in item.text for item in answer.items)
    for item, other in zip(answer.items, plain.items, strict=True):
        assert [part.metadata["line"] for part in answer.split(item)] == [
            part.metadata["line"] for part in plain.split(other)
        ]
    assert answer.render(answer.items) == run(repo, *command)


def test_a_missing_last_line_end_is_put_there() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"
    answer = parse(text)
    assert answer.render(answer.items) == f"{text}\n"


def test_a_diff_cut_short_keeps_what_it_has() -> None:
    text = FILE.format("a") + "@@ -1,9 +1,9 @@\n a\n-b\n" + FILE.format("b") + "@@ -1,9 +1,9 @@\n a\n"
    answer = parse(text)
    assert [item.path for item in answer.items] == ["a", "b"]
    assert answer.render(answer.items) == text
