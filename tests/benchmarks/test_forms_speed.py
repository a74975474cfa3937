"""How long parsing takes. Aims, on two cores: a megabyte on one line in 0.2 s, 10,000 lines in 0.1 s."""

import contextlib

import pytest
from firstpage.core.costs import CharacterCounter
from firstpage.core.errors import InputError
from firstpage.core.formats import FORMS, parse
from firstpage.core.items import Query
from firstpage.core.pages import Pages, paginate
from firstpage.readers.order import Fifo

# What a pattern that looks ahead or tries again at every character would choke on.
UNITS = ["x", "a-1-", "a:1", ":", " ", "* ", "[", '{"a":', "|", "`", "1", "\0", '"', "/a.b", "@@ -1,1 "]
LINES = {
    "paths": "src/m{0}.py\n",
    "hits": "src/m{0}.py:{0}:text\n",
    "jsonl": '{{"path": "src/m{0}.py"}}\n',
    "markdown": "- item {0}\n",
    "paragraphs": "Some words.\n",
    "diff": "diff --git a/m{0} b/m{0}\n--- a/m{0}\n+++ b/m{0}\n@@ -1 +1 @@\n-a\n+b\n",
}


def lines(form: str, count: int) -> str:
    line = LINES[form]
    return "".join(line.format(number) for number in range(count // line.count("\n")))


def in_every_form(text: str) -> None:
    for form in ("auto", *FORMS):
        with contextlib.suppress(InputError):
            parse(text, form)


@pytest.mark.benchmark(group="a megabyte on one line, in every form")
@pytest.mark.parametrize("unit", [*UNITS, "Files and "])
def test_one_line(benchmark, unit: str) -> None:
    benchmark.pedantic(in_every_form, [unit * (1_000_000 // len(unit))], rounds=3)


@pytest.mark.benchmark(group="10,000 lines")
@pytest.mark.parametrize("form", LINES)
def test_ten_thousand_lines(benchmark, form: str) -> None:
    assert benchmark(parse, lines(form, 10_000)).form == form


def pages(text: str) -> Pages:
    cut = paginate(parse(text), Query("m7"), Fifo(), 2000, CharacterCounter())
    cut.page(1)
    return cut


@pytest.mark.benchmark(group="the first page of 200,000 lines")
@pytest.mark.parametrize("form", ["paths", "hits"])
def test_the_first_page(benchmark, form: str) -> None:
    assert len(benchmark.pedantic(pages, [lines(form, 200_000)], rounds=3)) > 100
