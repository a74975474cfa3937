import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from firstpage.core.errors import MissingExtraError
from firstpage.eval.localisation import Cell, Plan
from firstpage.eval.report import write_report
from firstpage.eval.summary import summarise
from firstpage.eval.tasks import Task

BUDGETS = (1000, 2000, 4000)
PROVENANCE = {"commit": "c0ffee", "modified": False, "command": "firstpage bench history", "seed": 7,
              "data": {"tasks.jsonl": "9f86d081"}, "machine": {"cpu": "a CPU", "cores": 2}}  # fmt: skip
VOID = {"meta", "wbr", "link", "br", "img", "input", "hr"}
HOSTILE = (
    "<script>alert(1)</script>",
    "\" onmouseover='alert(1)' x=\"",
    "</title></style></svg><img src=https://example.org/x onerror=alert(1)>",
    "{{ 7 * 7 }} {% raw %} ${x} \\mathtt{$x$}",
    "half a pair \ud83d and \udcff, a bell \x07, an escape \x1b[31m, NUL \x00",
    "read backwards \u202e gnp.exe, 👩‍💻 and 語",
    "word " * 20_000,
    "x" * 100_000,
)


class Page(HTMLParser):
    """What a browser would make of a page: its elements, its text, and whether its tags match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, Mapping[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def inside(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def tasks(count: int, queries: Sequence[str] = ("the cache is stale",), repos: int = 1) -> list[Task]:
    return [
        Task(f"task-{n}", f"owner/repo-{n % repos}", "base", queries[n % len(queries)], [f"src/gold_{n}.py"])
        for n in range(count)
    ]


def cell(task: Task, function: str, rank: int | None, generator: str = "union", candidates: int = 60) -> Cell:
    ranks = () if rank is None else (rank,)
    on_page = tuple(int(rank is not None and rank <= budget // 100) for budget in BUDGETS)
    first = "" if not candidates else task.gold[0] if rank == 1 else "src/other.py"
    return Cell(
        task.instance_id,
        task.repo,
        generator,
        function,
        900,
        candidates,
        1,
        len(ranks),
        ranks,
        on_page,
        0.002,
        first,
    )


def report(folder: Path, cells: Sequence[Cell], of: Sequence[Task], reference: str = "hybrid") -> str:
    generators = list(dict.fromkeys(one.generator for one in cells))
    functions = list(dict.fromkeys(one.function for one in cells))
    summary = summarise(cells, Plan(generators, functions, BUDGETS, (".py",)), reference)
    write_report(folder / "report.html", "bench history, here", summary, cells, of, PROVENANCE)
    return (folder / "report.html").read_text(encoding="utf-8")


def ranked(of: Sequence[Task], ranks: Mapping[str, Sequence[int | None]]) -> list[Cell]:
    return [cell(task, name, ranks[name][n]) for n, task in enumerate(of) for name in ranks]


def headline(html: str) -> str:
    return Page(html[html.index("<h1>") : html.index("</h1>") + 5]).text


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        pytest.param(
            {"bm25": [3] * 20, "hybrid": [1] * 15 + [30] * 5, "fifo": [15] * 20},
            "Use hybrid: it ranks a gold file first in 75 % (53–89) of the tasks and has one "
            "on a page of 2,000 tokens in 75 % (53–89); its lead over bm25 is significant "
            "(+75 points at rank 1, p < 0.001).",
            id="lead",
        ),
        pytest.param(
            {"fifo": [9] * 20, "bm25": [1] * 9 + [2] * 11, "hybrid": [2] * 10 + [1] * 10},
            "Use hybrid: it ranks a gold file first in 50 % (30–70) of the tasks and has one "
            "on a page of 2,000 tokens in 100 % (84–100); with bm25 it is a tie "
            "(+5 points at rank 1, p = 1.000).",
            id="tie",
        ),
        pytest.param(
            {"hybrid": [2, 1, 2] * 7, "bm25": [1, 2, 2] * 7, "fifo": [2, 2, 1] * 7},
            "Use hybrid: it ranks a gold file first in 33 % (17–55) of the tasks and has one "
            "on a page of 2,000 tokens in 100 % (85–100); with bm25 it is a tie "
            "(0 points at rank 1, p = 1.000), and so it is with fifo.",
            id="tie of three",
        ),
        pytest.param(
            {"fifo": [3], "hybrid": [1]},
            "1 task cannot tell value functions apart; the first here, hybrid, ranks a gold file first in "
            "100 % (21–100) of the tasks and has one on a page of 2,000 tokens in 100 % (21–100).",
            id="too few tasks",
        ),
        pytest.param(
            {"fifo": [1, 2, 60], "bm25": [1, 2, 60], "hybrid": [1, 2, 60]},
            "Any value function will do: each of the 3 ranks a gold file first in 33 % (6–79) of the tasks "
            "and has one on a page of 2,000 tokens in 67 % (21–94).",
            id="equal",
        ),
        pytest.param(
            {"hybrid": [1, None]},
            "hybrid ranks a gold file first in 50 % (9–91) of the tasks and has one on a page "
            "of 2,000 tokens in 50 % (9–91); no other value function was measured.",
            id="one function",
        ),
        pytest.param(
            {"fifo": [None], "hybrid": [None]},
            "No value function can be recommended: no gold file is among the candidates of any task.",
            id="nothing found",
        ),
    ],
)
def test_headline_answers_the_question(
    tmp_path: Path, ranks: Mapping[str, Sequence[int | None]], said: str
) -> None:
    of = tasks(len(next(iter(ranks.values()))))
    html = report(tmp_path, ranked(of, ranks), of)
    assert headline(html) == said
    Page(html)


def test_recommendation_need_not_be_the_reference(tmp_path: Path) -> None:
    of = tasks(20)
    cells = ranked(of, {"fifo": [9] * 20, "bm25": [2] * 20, "mine": [1] * 20})
    html = report(tmp_path, cells, of, reference="fifo")
    assert headline(html).startswith("Use mine")
    assert "its lead over bm25 is significant" in headline(html)


def test_a_function_that_fails_leaves_the_figures_of_the_others_alone(tmp_path: Path) -> None:
    of = tasks(4)
    cells = ranked(of, {"broken": [1] * 4, "fifo": [1] * 4})
    cells = [
        replace(one, error="not <b>finite</b>", ranks=(), on_page=(0, 0, 0), first="")
        if one.function == "broken" else one
        for one in cells
    ]  # fmt: skip
    html = report(tmp_path, cells, of)
    text = Page(html).text
    assert "a gold file among them in 100 % (51–100)" in text
    assert "broken failed on 4, counted as missed" in text
    assert "could not be measured" not in text
    assert "not measured, counted" not in text
    assert "task-3 owner/repo-0, broken: not <b>finite</b>" in text
    assert re.findall("^(?:fifo|broken): .*", html, re.MULTILINE)[:2] == [
        "fifo: rank 1",
        "broken: not measured, not &lt;b&gt;finite&lt;/b&gt;</title></rect>",
    ]


def test_functions_that_all_failed_are_not_recommended(tmp_path: Path) -> None:
    of = tasks(1)
    cells = [replace(one, ranks=(), error="gone") for one in ranked(of, {"fifo": [1], "bm25": [1]})]
    html = report(tmp_path, cells, of)
    assert headline(html) == (
        "No value function can be recommended: each failed where a gold file is among the candidates."
    )
    assert "1 not measured, counted as missed" in Page(html).text


@pytest.mark.parametrize("candidates", [0, 60])
def test_one_task_without_gold_among_its_candidates(tmp_path: Path, candidates: int) -> None:
    of = tasks(1)
    cells = [cell(of[0], name, None, candidates=candidates) for name in ("fifo", "hybrid")]
    text = Page(report(tmp_path, cells, of)).text
    assert f"not among {candidates} candidates" in text
    assert ("no candidates" in text) is (candidates == 0)


def test_page_reaches_for_nothing_and_runs_nothing(tmp_path: Path) -> None:
    of = tasks(3, repos=2)
    page = Page(report(tmp_path, ranked(of, {"fifo": [4, 1, None], "hybrid": [1, 2, 30]}), of))
    assert page.inside("script") == page.inside("link") == page.inside("img") == 0
    policy = next(attributes for tag, attributes in page.elements if "http-equiv" in attributes)
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"
    for _, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes)
        assert all((attributes.get(name) or "#").startswith("#") for name in ("src", "href", "xlink:href"))
        assert "http" not in (attributes.get("style") or "")


def test_no_name_is_used_twice(tmp_path: Path) -> None:
    of = tasks(3)
    cells = [cell(task, name, 2, generator) for task in of for generator in ("grep", "union")
             for name in ("fifo", "hybrid")]  # fmt: skip
    page = Page(report(tmp_path, cells, of))
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(names) == len(set(names))
    used = [attributes.get("href") for tag, attributes in page.elements if tag == "use"]
    assert used
    assert {name[1:] for name in used if name} <= set(names)


@pytest.mark.parametrize("message", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_shown_and_not_obeyed(tmp_path: Path, message: str) -> None:
    of = [Task(message[:300], message[:300], "base", f"\n{message}\nmore", [message])]
    harmless = Page(report(tmp_path, ranked(tasks(1), {"fifo": [None], "hybrid": [30]}), tasks(1)))
    cells = [replace(one, first=message) for one in ranked(of, {"fifo": [None], "hybrid": [30]})]
    html = report(tmp_path, cells, of)
    page = Page(html)
    # The same elements but for the places where a path may break.
    assert [tag for tag, _ in page.elements if tag != "wbr"] == [
        tag for tag, _ in harmless.elements if tag != "wbr"
    ]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", html)
    assert len(html) < 100_000
    shown = re.sub("[\x00-\x08\x0b-\x1f\x7f\u202e\ud800-\udfff]", "\ufffd", message)
    assert " ".join(shown[:100].split()) in page.text


def test_hostile_names_and_errors(tmp_path: Path) -> None:
    of = tasks(2)
    name = "<b>$x$ & \ud800</b>"
    cells = ranked(of, {"hybrid": [1, 2], name: [2, 1]})
    cells = [
        replace(one, error="<i>gone</i> \udcff", ranks=()) if one.task == "task-1" else one for one in cells
    ]
    page = Page(report(tmp_path, cells, of))
    assert "<b>$x$ & \ufffd</b>" in page.text
    assert "<i>gone</i> \ufffd" in page.text
    assert "1 not measured" in page.text


def test_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    of = tasks(12, repos=3)
    cells = ranked(of, {"fifo": [4, 1, None] * 4, "hybrid": [1, 2, 30] * 4, "mine": [2, 1, 12] * 4})
    first = report(tmp_path, cells, of)
    assert report(tmp_path, cells, of) == first
    assert "matplotlib" not in first
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html"]


def test_missed_tasks_name_who_gets_them_and_are_cut(tmp_path: Path) -> None:
    of = tasks(60, queries=["Reload forgets the cache\n\nlong story"])
    cells = ranked(of, {"hybrid": [12] * 59 + [1], "bm25": [13] * 7 + [4] + [14] * 52})
    page = Page(report(tmp_path, cells, of))
    assert "59 of 60 tasks; another value function gets 1 of them, listed first." in page.text
    assert "The first 50 of 59" in page.text
    listed = page.text[page.text.index("who gets it") :]
    assert listed.index("task-7") < listed.index("task-0")
    assert "long story" not in page.text


def test_only_the_failures_of_the_best_function_stand_beside_what_it_misses(tmp_path: Path) -> None:
    of = tasks(3)
    cells = ranked(of, {"hybrid": [12, 1, 1], "bm25": [13, 2, 2]})
    failed = {("task-2", "hybrid"), ("task-0", "bm25"), ("task-1", "bm25")}
    cells = [
        replace(one, ranks=(), error="gone") if (one.task, one.function) in failed else one for one in cells
    ]
    text = Page(report(tmp_path, cells, of)).text
    assert "1 of 3 tasks; another value function gets none of them. 1 more could not be measured." in text
    assert "hybrid failed on 1, counted as missed · bm25 failed on 2, counted as missed" in text


def test_matrix_tells_each_task_once_with_all_ranks(tmp_path: Path) -> None:
    of = tasks(3)
    html = report(tmp_path, ranked(of, {"hybrid": [1, 1, None], "bm25": [2, 7, 51]}), of)
    told = re.findall(r"<title>(task-.*?)</title>", html, re.DOTALL)
    assert len(told) == 3
    assert told[1].splitlines() == [
        "task-1 · owner/repo-0",
        "the cache is stale",
        "gold: src/gold_1.py",
        "hybrid: rank 1",
        "bm25: rank 7, first src/other.py",
    ]
    assert "hybrid: not a candidate, first src/other.py\nbm25: rank 51" in told[2]


def test_repositories_only_where_there_are_several(tmp_path: Path) -> None:
    for repos in (1, 2):
        of = tasks(4, repos=repos)
        html = report(tmp_path, ranked(of, {"hybrid": [1, 2, 1, 2], "fifo": [3] * 4}), of)
        assert ("By repository" in html) is (repos > 1)


def test_five_hundred_tasks_stay_a_small_file(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    of = tasks(
        500, queries=["a first line of the usual length, which names some_function and AClass"], repos=12
    )
    cells = [
        cell(task, f"function_{f}", int(random.integers(1, 70)), generator)
        for task in of
        for generator in ("grep", "bm25", "union")
        for f in range(8)
    ]
    assert len(report(tmp_path, cells, of, reference="none of them").encode()) < 3_000_000


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_missing_extra_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    of = tasks(1)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"the report needs an optional part: .*firstpage\[eval\]"):
        report(tmp_path, ranked(of, {"hybrid": [1]}), of)
    assert not list(tmp_path.iterdir())
