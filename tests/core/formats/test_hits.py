from pathlib import Path

import pytest
from firstpage.core.formats import parse
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"
FLAT = """src/a.py-11-def a():
src/a.py:12:    needle
--
src/a.py:40:needle
src/a.py-41-
--
src/b-2-c.py-6-see a.py:7: x
src/b-2-c.py:7:needle
"""
HEADED = """src/a.py
11-def a():
12:    needle
--
40:needle

src/b-2-c.py
7:needle
8:needle
"""


@st.composite
def searches(draw) -> tuple[str, list[str]]:
    """An answer in one of the ways of printing, and the names of its files."""
    style = draw(st.sampled_from(["numbered", "nul", "headed"]))
    context = draw(st.booleans())
    letters = "ab-1é ." if style == "numbered" else "ab-1é:."
    stem = st.text(letters, min_size=1, max_size=5)
    names = draw(st.lists(stem.map(lambda name: f"d/{name}.py"), min_size=1, max_size=5, unique=True))
    start = {"numbered": "{0}{2}{1}{2}", "nul": "{0}\0{1}{2}", "headed": "{1}{2}"}[style]
    files = []
    for name in names:
        blocks, number = [], 0
        for size in draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)):
            number += draw(st.integers(2, 9))
            match = draw(st.integers(0, size - 1))
            lines = []
            for place in range(size):
                sign = ":" if place == match or not context else "-"
                words = draw(st.sampled_from(["", "x", "see b.py:7: x", "a-3-b", "--", "d/a.py-1-x", "\x0c"]))
                lines.append(start.format(name, number, sign) + words)
                number += 1
            blocks.append("\n".join(lines))
        between = "\n--\n" if context else "\n"
        files.append(f"{name}\n" * (style == "headed") + between.join(blocks))
    gap = "\n\n" if style == "headed" else "\n--\n" if context else "\n"
    return gap.join(files) + "\n", names


@given(searches(), st.data())
def test_pages_hold_the_chosen_files(check_page, search, data) -> None:
    text, names = search
    answer = parse(text, "hits")
    assert [item.path for item in answer.items] == names
    assert answer.render(answer.items) == text
    places = data.draw(st.permutations(range(len(names))))[: data.draw(st.integers(0, len(names)))]
    check_page(text, "hits", places, data.draw(st.sampled_from(["", NOTE])))


@given(searches(), st.data())
def test_pages_hold_the_chosen_parts_under_their_files(search, data) -> None:
    text, _ = search
    answer = parse(text, "hits")
    parts = [part for item in answer.items for part in answer.split(item) or [item]]
    chosen = data.draw(st.permutations(parts))[: data.draw(st.integers(0, len(parts)))]
    page = answer.render(chosen, NOTE)
    assert len(page) <= len(answer.render([], NOTE)) + sum(len(answer.piece(part)) for part in chosen)
    again = parse(page, "hits")
    assert {item.path for item in again.items} == {part.path for part in chosen}
    assert answer.render(parts) == text


@pytest.mark.parametrize("where", [[], ["-A1"], ["-B1"], ["-C1"]])
@pytest.mark.parametrize(
    "command",
    [
        ["grep", "-rn", "--exclude-dir=.git", "needle", "."],
        ["grep", "-r", "--exclude-dir=.git", "needle", "."],
        ["grep", "-rnZ", "--exclude-dir=.git", "needle", "."],
        ["git", "grep", "-n", "needle"],
        ["git", "grep", "-np", "needle"],
        ["git", "grep", "-n", "needle", "HEAD"],
        ["git", "grep", "-n", "--heading", "--break", "needle"],
        ["rg", "-n", "--no-heading", "needle", "."],
        ["rg", "-N", "--no-heading", "needle", "."],
        ["rg", "-n", "--heading", "needle", "."],
        ["rg", "-0n", "--no-heading", "needle", "."],
        ["rg", "--vimgrep", "needle", "."],
    ],
    ids=" ".join,
)
def test_reads_what_tools_print(command: list[str], where: list[str], repo: Path, run, check_page) -> None:
    at = command.index("needle")
    text = run(repo, *command[:at], *where, *command[at:])
    answer = parse(text)
    assert answer.form == "hits"
    assert answer.render(answer.items) == text
    paths = [item.path for item in answer.items]
    named = run(repo, "grep", "-rlI", "--exclude-dir=.git", "needle", ".").split("\n")[:-1]
    assert set(paths) - {"bin.dat"} == {name.removeprefix("./") for name in named}
    assert len(set(paths)) == len(paths)
    check_page(text, "hits", range(len(paths) - 1, -1, -2), NOTE)


def test_puts_lines_of_context_with_the_file_of_their_match() -> None:
    answer = parse(FLAT)
    assert [(item.path, item.metadata["line"]) for item in answer.items] == [
        ("src/a.py", 12),
        ("src/b-2-c.py", 7),
    ]
    assert answer.render(answer.items[::-1]) == (
        "src/b-2-c.py-6-see a.py:7: x\nsrc/b-2-c.py:7:needle\n--\n" + FLAT.split("--\nsrc/b")[0]
    )


def test_splits_a_file_into_blocks_or_lines() -> None:
    answer = parse(FLAT)
    parts = answer.split(answer.items[0])
    assert [(part.id, part.metadata["line"]) for part in parts] == [("1.1", 12), ("1.2", 40)]
    assert not answer.split(parts[0])
    assert answer.render([parts[1], answer.items[1]]).count("--\n") == 1
    headed = parse(HEADED)
    first, second = (headed.split(item) for item in headed.items)
    assert headed.render([second[1], first[1]]) == "src/b-2-c.py\n8:needle\n\nsrc/a.py\n40:needle\n"
    assert headed.render([*first, *second]) == HEADED


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("C:\\a\\b.py:3:x\nC:\\a\\b.py-4-y\nD:/c.py:1:z\n", ["C:/a/b.py", "D:/c.py"]),
        ("C:\\a\\b.py:x\nC:\\a\\b.py:y\nD:\\c.py:z\n", ["C:/a/b.py", "D:/c.py"]),
        ("a.py:1:x\r\nb.py:2:y\r\n", ["a.py", "b.py"]),
        ("a.py:1:x\r\nb.py:2:y\n", ["a.py", "b.py"]),
        ("a.py:1:x\nb.py:2:y\na.py:9:z\n", ["a.py", "b.py"]),
        ("a-1-b.py:12:x\na-1-b.py:13:y\na.py:2:z\n", ["a-1-b.py", "a.py"]),
        ("a:5:x\na-1-b.py:3:y\n", ["a", "a-1-b.py"]),
        ("d/a:b.py:5:x\n", ["d/a:b.py"]),
        ('"\\303\\244.py":5:x\n', ["ä.py"]),
        ("Binary file a/b.so matches\na.py:1:x\n", ["a/b.so", "a.py"]),
        ("a.py:1:x\ngrep: a/b.so: binary file matches\n", ["a.py", "a/b.so"]),
        ('a.py:1:x\nb.so: binary file matches (found "\\0" byte around offset 7)\n', ["a.py", "b.so"]),
        ("b.py-before\nb.py:x: y\nb.py-after\n--\nc.py-see d: e\nc.py:z\n", ["b.py", "c.py"]),
        ("a.py:3\nb.py:0\n", ["a.py", "b.py"]),
        ("a.py\x001:x\nb:c.py\x002:y\n", ["a.py", "b:c.py"]),
        ("./a.py\x001:x\n4:y\n\n./b.py\x002:z\n", ["a.py", "b.py"]),
    ],
)
def test_groups_lines_by_file(text: str, paths: list[str]) -> None:
    answer = parse(text, "hits")
    assert [item.path for item in answer.items] == paths
    assert sorted(answer.render(answer.items)) == sorted(text)


def test_keeps_lines_that_belong_nowhere() -> None:
    text = "Found 3 matches\na.py:1:x\ngrep: d: Is a directory\nb.py:2:y\n\n(2 more)\n"
    answer = parse(text, "hits")
    assert (answer.header, answer.footer) == ("Found 3 matches\n", "\n(2 more)\n")
    assert answer.items[0].text == "a.py:1:x\ngrep: d: Is a directory"
    assert answer.render(answer.items) == text


def test_lines_of_one_file_stand_together_in_its_order_at_the_place_of_the_first():
    answer = parse("a.py:1:one\na.py:5:two\na.py:9:three\nb.py:2:four\n", "hits")
    first, second, third = answer.split(answer.items[0])
    page = answer.render([third, answer.items[1], first, second])
    assert page == "a.py:1:one\na.py:5:two\na.py:9:three\nb.py:2:four\n"


def test_a_part_of_a_block_is_a_match_with_the_context_after_it() -> None:
    text = "a-1-x\na:2:m\na-3-x\na:4:m\na:5:m\n--\na:9:m\nb:1:m\n"
    answer = parse(text, "hits")
    parts = answer.split(answer.items[0])
    assert [part.text for part in parts] == ["a-1-x\na:2:m\na-3-x", "a:4:m", "a:5:m", "a:9:m"]
    assert [part.metadata["line"] for part in parts] == [2, 4, 5, 9]
    headed = parse("a.py\n1:m\n2-x\n3:m\n--\n9:m\n", "hits")
    one, two, three = headed.split(headed.items[0])
    assert headed.render([one, two, three]) == "a.py\n1:m\n2-x\n3:m\n--\n9:m\n"
    assert headed.render([one, three]) == "a.py\n1:m\n2-x\n--\n9:m\n"


@pytest.mark.parametrize(
    "command",
    [
        ["rg", "-n", "--no-heading", "--color=always", "needle", "."],
        ["rg", "-n", "--heading", "--color=always", "-C1", "needle", "."],
        ["grep", "-rn", "--color=always", "--exclude-dir=.git", "-C1", "needle", "."],
        ["git", "grep", "-n", "--color=always", "-C1", "needle"],
    ],
    ids=" ".join,
)
def test_colours_are_looked_through_and_kept(command: list[str], repo: Path, run) -> None:
    text = run(repo, *command)
    answer = parse(text)
    assert (answer.form, "\x1b[" in text) == ("hits", True)
    assert answer.render(answer.items) == text
    assert {"docs/ü b.md", "src/find.py", "src/deep/a-1-b/x.py"} <= {item.path for item in answer.items}
    assert any(answer.split(item) for item in answer.items)
