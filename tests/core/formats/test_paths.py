import shutil
from pathlib import Path

import pytest
from firstpage.core.formats import parse
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"
names = st.text("ab/\\.-: '\"éß\t\udc80", min_size=1, max_size=8).filter(
    lambda name: name.strip() and not name.endswith(":") and not name.startswith("(")
)
any_names = st.text('ab/\\.\n\r -"[é\udc80', min_size=1, max_size=8)


@given(st.lists(names, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.data())
def test_pages_hold_the_chosen_names(check_page, lines, separator, terminated, data) -> None:
    text = separator.join(lines) + separator * terminated
    places = data.draw(st.permutations(range(len(lines))))[: data.draw(st.integers(0, len(lines)))]
    check_page(text, "paths", places, data.draw(st.sampled_from(["", NOTE])))
    answer = parse(text, "paths")
    assert answer.render(answer.items) == text


@given(st.lists(any_names, min_size=1, max_size=8), st.data())
def test_pages_of_nul_separated_names_hold_line_ends_and_quotes(check_page, lines, data) -> None:
    text = "\0".join(lines) + "\0"
    places = data.draw(st.permutations(range(len(lines))))[: data.draw(st.integers(0, len(lines)))]
    check_page(text, "paths", places, data.draw(st.sampled_from(["", NOTE])))
    answer = parse(text, "paths")
    assert [item.text for item in answer.items] == lines
    assert answer.render(answer.items) == text


@pytest.mark.parametrize(
    "command",
    [
        ["git", "ls-files"],
        ["git", "ls-files", "-z"],
        ["git", "diff", "--name-only", "HEAD~1"],
        ["git", "diff", "--name-only", "-z", "HEAD~1"],
        ["find", ".", "-name", ".git", "-prune", "-o", "-type", "f", "-print"],
        ["find", ".", "-name", ".git", "-prune", "-o", "-type", "f", "-print0"],
        ["grep", "-rl", "--exclude-dir=.git", "needle", "."],
        ["grep", "-rlZ", "--exclude-dir=.git", "needle", "."],
        ["rg", "-l", "needle", "."],
        ["rg", "-l0", "needle", "."],
        ["rg", "--files"],
    ],
    ids=" ".join,
)
def test_reads_what_tools_print(command: list[str], repo: Path, run, check_page) -> None:
    text = run(repo, *command)
    answer = parse(text)
    assert answer.form == "paths"
    assert answer.render(answer.items) == text
    assert all(
        (repo / item.path).exists() or item.path in {"gone.py", "old name.py"} for item in answer.items
    )
    assert {"docs/ü b.md", "src/find.py", "src/deep/a-1-b/x.py"} & {item.path for item in answer.items}
    check_page(text, "paths", range(len(answer.items) - 1, -1, -2), NOTE)


@pytest.mark.parametrize(
    ("text", "header", "paths", "footer"),
    [
        ("Found 2 files\na.py\nb.py\n", "Found 2 files\n", ["a.py", "b.py"], ""),
        ("Files:\na.py\n(truncated)\n", "Files:\n", ["a.py"], "(truncated)\n"),
        ("a.py\n\nb.py\n", "", ["a.py", "b.py"], ""),
        ("C:\\x\\y.py\r\nD:\\z.py\r\n", "", ["C:/x/y.py", "D:/z.py"], ""),
        ("\nFiles:\n\na.py\n \n\nb.py\n\n", "\nFiles:\n\n", ["a.py", "b.py"], "\n"),
        ("a\nb\0c\0", "", ["a\nb", "c"], ""),
    ],
)
def test_keeps_header_and_footer(text: str, header: str, paths: list[str], footer: str) -> None:
    answer = parse(text, "paths")
    assert (answer.header, [item.path for item in answer.items], answer.footer) == (header, paths, footer)
    assert answer.render(answer.items) == text


@pytest.mark.parametrize(
    "command",
    [
        ["git", "ls-tree", "-r", "HEAD"],
        ["git", "ls-tree", "-rl", "HEAD"],
        ["git", "ls-files", "-s"],
        ["git", "diff", "--stat", "-M", "HEAD~1"],
        ["git", "diff", "--stat", "-M", "--color=always", "HEAD~1"],
        ["git", "diff", "--name-status", "-M", "HEAD~1"],
        ["git", "diff", "--numstat", "--no-renames", "HEAD~1"],
        ["git", "status", "--short"],
        ["wc", "-l", "src/find.py", "src/deep/a-1-b/x.py", "added.py"],
        ["ls", "-l", "added.py", "src/find.py"],
        ["ls", "-lh", "--time-style=long-iso", "added.py", "src/find.py"],
    ],
    ids=" ".join,
)
def test_reads_the_path_in_lines_with_other_columns(
    command: list[str], repo: Path, run, check_page, tmp_path: Path
) -> None:
    if "status" in command:
        repo = Path(shutil.copytree(repo, tmp_path / "changed"))
        (repo / "added.py").write_text("x\n")
        (repo / "new one.py").write_text("x\n")
        run(repo, "git", "mv", "mode.sh", "moved.sh")
    text = run(repo, *command)
    answer = parse(text)
    assert answer.form == "paths"
    assert answer.render(answer.items) == text
    assert "added.py" in {item.path for item in answer.items}
    assert all(
        (repo / item.path).exists() or item.path in {"gone.py", "old name.py"} for item in answer.items
    )
    check_page(text, "paths", range(len(answer.items) - 1, -1, -2), NOTE)


def test_a_line_with_columns_is_the_item_and_sums_are_no_items() -> None:
    stat = parse(" src/{a => b}/x.py | 2 +-\n y.py => z.py | Bin 0 -> 9 bytes\n 2 files changed\n")
    assert [(item.text, item.path) for item in stat.items] == [
        (" src/{a => b}/x.py | 2 +-", "src/b/x.py"),
        (" y.py => z.py | Bin 0 -> 9 bytes", "z.py"),
    ]
    assert stat.footer == " 2 files changed\n"
    listed = parse("total 8\n-rw-r--r-- 1 root root 123 Jan 1 10:00 my file.py\n")
    assert (listed.header, [item.path for item in listed.items]) == ("total 8\n", ["my file.py"])
    counted = parse("   3 src/a.py\n  11 src/b.py\n  14 total\n")
    assert (counted.footer, [item.path for item in counted.items]) == (
        "  14 total\n",
        ["src/a.py", "src/b.py"],
    )


def test_the_note_ends_as_the_names_do() -> None:
    assert parse("a.py\0b.py\0").render([], NOTE) == f"{NOTE}\0"
    assert parse("a.py\r\nb.py\r\n").render([], NOTE) == f"{NOTE}\r\n"
    assert parse("a.py\nb.py", "paths").render([], NOTE) == NOTE


def test_odd_names_that_end_in_nul_are_paths_and_binary_data_is_none():
    odd = 'new\nline.py\0quo"te.py\0sp ace.py\0stale\0tab\t.py\0'
    assert [item.text for item in parse(odd).items] == odd.removesuffix("\0").split("\0")
    assert parse("\x7fELF\x02\x01\0\0\0\x03\0").form == "paragraphs"
