import re
from dataclasses import replace

import pytest
from firstpage.eval.localisation import Cell, Plan
from firstpage.eval.summary import summarise
from firstpage.eval.tables import localisation_tables, markdown_table, paired, probability, short_tables
from hypothesis import given
from hypothesis import strategies as st

PLAN = Plan(["bm25", "grep"], ["hybrid", "fifo"], [1000, 2000], [".py"])


def cell(task: str, function: str, ranks: tuple[int, ...], on_page: tuple[int, int], **others) -> Cell:
    about = {"generator": "grep", "files": 9, "candidates": 5, "gold": 1, "seconds": 0.5, "first": "x.py"}
    repo = {"a": "o/a", "b": "o/b"}[task[0]]
    about |= {"found": len(ranks), "ranks": ranks, "on_page": on_page}
    return Cell(task=task, repo=repo, function=function, **about | others)


# Under grep two value functions on four tasks; bm25 finds nothing.
GREP = [
    cell("a1", "hybrid", (1,), (1, 1)),
    cell("a2", "hybrid", (1, 4), (1, 2), gold=2, candidates=6),
    cell("a3", "hybrid", (7,), (0, 1), gold=2, candidates=20),
    cell("b1", "hybrid", (), (0, 0), candidates=0, error="the repository has no commit"),
    cell("a1", "fifo", (2,), (1, 1)),
    cell("a2", "fifo", (1, 3), (2, 2), gold=2, candidates=6),
    cell("a3", "fifo", (21,), (0, 0), gold=2, candidates=20),
    cell("b1", "fifo", (), (0, 0), candidates=0, error="the repository has no commit"),
]
NOTHING = [
    cell(task, function, (), (0, 0), generator="bm25", candidates=0)
    for task in ("a1", "a2", "a3", "b1")
    for function in ("hybrid", "fifo")
]

cells = st.text(st.characters(exclude_characters="|\n\r", categories=["L", "N", "P", "Zs"]), max_size=9)


def parsed(table: str) -> list[list[str]]:
    """The rows of a pipe table, its ruler left out."""
    rows = [line.strip("|").split("|") for line in table.rstrip("\n").split("\n")]
    return [[cell.strip() for cell in row] for row in [rows[0], *rows[2:]]]


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1)))
def test_a_table_holds_what_was_put_in_and_its_columns_align(rows):
    table = markdown_table(rows[0], rows[1:])
    assert parsed(table) == [[cell.strip() for cell in row] for row in rows]
    lines = table.split("\n")
    assert lines.pop() == ""
    bars = {tuple(place for place, sign in enumerate(line) if sign == "|") for line in lines}
    assert len(bars) == 1
    assert re.fullmatch(r"\| :-{3,} (\| -{3,}: )*\|", lines[1])


def test_the_first_column_is_on_the_left_and_the_others_on_the_right():
    assert markdown_table(["name", "n"], [["a", "1"], ["longer", "12345"]]).split("\n")[2:4] == [
        "| a      |     1 |",
        "| longer | 12345 |",
    ]


@pytest.mark.parametrize(
    ("p", "shown"), [(1.0, "1.000"), (0.0215, "0.021"), (0.001, "0.001"), (1e-9, "< 0.001")]
)
def test_a_small_probability_is_shown_as_a_bound(p, shown):
    assert probability(p) == shown


@pytest.fixture
def tables() -> dict[str, list[list[str]]]:
    """Each table of a localisation benchmark by its heading."""
    text = localisation_tables(summarise([*NOTHING, *GREP], PLAN, "hybrid"))
    parts = re.split(r"^### (.*)\n\n(?:A page holds .*\n\n)?", text, flags=re.MULTILINE)
    return {heading: parsed(table) for heading, table in zip(parts[1::2], parts[2::2], strict=True)}


def test_every_table_of_a_benchmark_is_there(tables):
    assert list(tables) == [
        "What each generator finds",
        "A gold file among the first k",
        "All gold files among the first k",
        "Inclusion: a gold file on the page",
        "Inclusion of all gold files",
        "Paired comparisons at rank 1",
        "By repository, ranked first",
    ]
    assert all(len({len(row) for row in rows}) == 1 for rows in tables.values())


def test_tables_show_the_figures_of_the_summary(tables):
    assert tables["A gold file among the first k"][3] == [
        "grep", "hybrid", "50.0 (15.0–85.0)", "50.0", "50.0", "75.0", "75.0", "75.0", "75.0",
    ]  # fmt: skip
    assert tables["All gold files among the first k"][4][3:] == ["50.0"] * 6
    assert tables["Inclusion: a gold file on the page"][0][2:] == ["1,000 tokens", "2,000 tokens"]
    assert tables["Inclusion: a gold file on the page"][3][2:] == ["50.0", "75.0"]
    assert tables["Inclusion of all gold files"][3][2:] == ["25.0", "50.0"]
    assert tables["What each generator finds"][2][:3] == ["grep", "7.8", "6"]
    assert tables["Paired comparisons at rank 1"][2][:6] == [
        "grep", "hybrid against fifo", "+25.0", "1", "0", "1.000",
    ]  # fmt: skip
    assert tables["By repository, ranked first"][1:] == [
        ["o/a", "3", "66.7", "33.3"],
        ["o/b", "1", "0.0", "0.0"],
    ]


def test_errors_are_told_above_the_tables():
    text = localisation_tables(summarise([*NOTHING, *GREP], PLAN, "hybrid"))
    told = "1 of 4 tasks could not be measured and count as misses; b1: the repository has no commit."
    assert told in text
    assert "could not be measured" not in localisation_tables(without_errors())


def test_a_function_that_fails_is_told_apart_from_tasks_that_cannot_be_measured():
    broken = [replace(one, function="fifo", ranks=(), error="not finite") for one in GREP[:3]]
    text = localisation_tables(
        summarise(
            [*GREP[:4], *broken, GREP[7]], Plan(["grep"], ["hybrid", "fifo"], [1000, 2000], [".py"]), "hybrid"
        )
    )
    assert "1 of 4 tasks could not be measured and count as misses; b1: the repository has no commit." in text
    assert "`fifo` failed on 3 of 4 tasks, which count as its misses; a1: not finite." in text
    assert "`hybrid` failed" not in text


def test_inclusion_says_what_a_page_holds_here():
    summary = summarise([*NOTHING, *GREP], PLAN, "hybrid")
    for text in (short_tables(summary), localisation_tables(summary)):
        assert text.count("A page holds rows alone; the last line that `select` adds may take") == 1


def test_a_comparison_is_written_the_same_everywhere():
    row = {"function": "hybrid", "against": "fifo", "difference": -0.031, "b": 1, "c": 9, "p": 0.0215,
           "by_task": (-0.06, 0.0), "by_repository": (-0.1, 0.05)}  # fmt: skip
    assert paired(row) == [
        "hybrid against fifo", "-3.1", "1", "9", "0.021", "-6.0 to +0.0", "-10.0 to +5.0",
    ]  # fmt: skip


def without_errors():
    whole = [cell for cell in [*NOTHING, *GREP] if cell.task != "b1"]
    return summarise(whole, PLAN, "hybrid")


def test_one_repository_and_one_function_need_no_comparison():
    text = localisation_tables(without_errors())
    assert "### By repository" not in text
    alone = [cell for cell in GREP if cell.function == "fifo"]
    one = localisation_tables(summarise(alone, Plan(["grep"], ["fifo"], [1, 2], []), "fifo"))
    assert "### Paired comparisons" not in one


def test_the_short_tables_are_some_of_the_long_ones():
    summary = summarise([*NOTHING, *GREP], PLAN, "hybrid")
    short, long = short_tables(summary), localisation_tables(summary)
    rows = [line for line in short.split("\n") if line.startswith("|")]
    assert len(rows) == 3 * 2 + 2 + 4 + 4
    assert set(rows) < set(long.split("\n"))
    assert short.split("\n")[:4] == long.split("\n")[:4]
