"""What holds for all forms: names, detection, bad input, speed."""

import itertools
import json
import time

import pytest
from firstpage.core.errors import InputError
from firstpage.core.formats import FORMS, decode, detect, encode, parse
from hypothesis import given
from hypothesis import strategies as st

EXAMPLES = {
    "paths": "src/a.py\nsrc/b.py\nMakefile\n",
    "hits": "src/a.py:3:import re\nsrc/b.py:9:import re\n",
    "rg-json": (
        '{"type":"begin","data":{"path":{"text":"a.py"}}}\n'
        '{"type":"match","data":{"path":{"text":"a.py"},"lines":{"text":"x\\n"},"line_number":3}}\n'
        '{"type":"end","data":{"path":{"text":"a.py"}}}\n'
        '{"type":"begin","data":{"path":{"text":"b.py"}}}\n'
        '{"type":"end","data":{"path":{"text":"b.py"}}}\n'
        '{"data":{"stats":{}},"type":"summary"}\n'
    ),
    "json": '{"total": 2, "items": [{"path": "a.py"}, {"path": "b.py"}]}\n',
    "jsonl": '{"path": "a.py"}\n{"path": "b.py"}\n',
    "diff": (
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"
        "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n"
    ),
    "markdown": "# Issues\n\n| id | title |\n|---|---|\n| 1 | a |\n| 2 | b |\n",
    "paragraphs": "Some text\nin two lines.\n\nAnd some more.\n",
    "mcp": json.dumps(
        {"content": [{"type": "text", "text": "src/a.py:3:x\nsrc/b.py:9:y\n"}], "isError": False}
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_detects_every_form_and_gives_back_all_of_it(form: str) -> None:
    answer = parse(EXAMPLES[form])
    assert answer.form == form == detect(EXAMPLES[form])
    assert len(answer.items) > 1
    assert [item.id for item in answer.items] == [str(place + 1) for place in range(len(answer.items))]
    assert answer.render(answer.items) == EXAMPLES[form]


@pytest.mark.parametrize("form", FORMS)
def test_pages_of_every_choice_and_order_parse_to_the_chosen_items(form: str, check_page) -> None:
    count = len(parse(EXAMPLES[form]).items)
    for size, note in itertools.product(range(count + 1), ["", "[firstpage: page 1 of 2]"]):
        for places in itertools.permutations(range(count), size):
            check_page(EXAMPLES[form], form, places, note)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2024-01-01 12:30:45 INFO start\n2024-01-01 12:30:46 INFO stop\n", "paragraphs"),
        ("12:30:45 start\n12:30:46 stop\n", "paragraphs"),
        ('1.2.3.4 - - [01/Jan/2024:12:30:45 +0000] "GET / HTTP/1.1"\n' * 3, "paragraphs"),
        ("[INFO] started\n[INFO] stopped\n", "paragraphs"),
        ("Note: this is so.\nWarning: and so is this.\n", "paragraphs"),
        ('"name": "x"\n"path": "y"\n', "paragraphs"),
        ("https://example.org: refused\nhttps://example.com: refused\n", "paragraphs"),
        ('[{"a": 1}, {"b":', "paragraphs"),
        ('{"a": 1}\n{"b": 2}\n{"c": ', "paragraphs"),
        ("done", "paragraphs"),
        ("README.md", "paths"),
        ("src\ntests\nREADME.md\nsetup.py\n", "paths"),
        ("C:\\x\\y.py\r\nC:\\x\\z.py\r\n", "paths"),
        ("C:\\x\\y.py:12:text\r\nC:\\x\\z.py:13:text\r\n", "hits"),
        ("./My File.txt\n./b c.txt\n", "paths"),
        ("Found 2 files\n/a/b.py\n/a/c.py\n", "paths"),
        ("a.py:3\nb.py:1\n", "hits"),
        ("Makefile:3:all:\nsrc/x:4:y\n", "hits"),
        ("```diff\ndiff --git a/x b/x\nindex 1..2\n```\n\nThat is all.\n", "paragraphs"),
        ("- one\n- two\n", "markdown"),
        ("A long text\nof prose\nwith many lines\n- and one\n- list\n", "paragraphs"),
        ('["a.py", "b.py"]', "json"),
        ("[]", "json"),
        ('{"a": 1}', "json"),
        ('{"content": "a string"}', "json"),
        ("\0\1\2\x7fELF", "paragraphs"),
    ],
)
def test_tells_forms_apart(text: str, form: str) -> None:
    assert detect(text) == form
    assert parse(text).render(parse(text).items) == text


@pytest.mark.parametrize(
    "form", ["auto", "paths", "hits", "diff", "markdown", "paragraphs", "jsonl", "rg-json"]
)
@pytest.mark.parametrize("text", ["", " ", "\n", "\n\n \n", "\r\n"])
def test_a_blank_answer_has_no_items(form: str, text: str) -> None:
    answer = parse(text, form)
    assert not answer.items
    assert not answer.render([]).strip()


@pytest.mark.parametrize("form", ["json", "mcp"])
@pytest.mark.parametrize(
    "text", ["", "x", '"x"', "3", '{"a": [1,', '{"a": 1} x', "[" * 100_000, "[" + "1" * 9999 + "]"]
)
def test_json_that_cannot_be_read_is_an_input_error(form: str, text: str) -> None:
    with pytest.raises(InputError):
        parse(text, form)
    assert parse(text).form == "paragraphs"


def test_an_unknown_form_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="'jsn' is no form of answer; did you mean 'json'"):
        parse("[]", "jsn")
    with pytest.raises(InputError, match="use auto, mcp, json"):
        parse("[]", "?")
    with pytest.raises(InputError, match="not in the form 'diff'"):
        parse("[]", "diff", array="/a")


@given(st.binary(max_size=400))
def test_bytes_survive_decoding_and_every_line_form(data: bytes) -> None:
    text = decode(data)
    assert encode(text) == data
    for form in ("auto", "paths", "hits", "diff", "markdown", "paragraphs"):
        answer = parse(text, form)
        for item in answer.items:
            answer.piece(item)
            answer.split(item)
        answer.render(answer.items, "[firstpage: x]")


@given(st.text("ab/.-:1|#`~\n\r\0@+ \t*>", max_size=80))
def test_paragraphs_give_back_any_text(text: str) -> None:
    answer = parse(text, "paragraphs")
    assert answer.render(answer.items) == text


@pytest.mark.parametrize(
    "unit",
    [
        "x",
        "a-1-",
        "a:1",
        ":",
        " ",
        "* ",
        "[",
        '{"a":',
        "|",
        "`",
        "1",
        "\0",
        '"',
        "/a.b",
        "@@ -1,1 ",
        "Files and ",
    ],
)
def test_a_megabyte_on_one_line_is_fast_in_every_form(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    start = time.perf_counter()
    for form in ("auto", *FORMS):
        try:
            answer = parse(text, form)
        except InputError:
            continue
        answer.render(answer.items, "[firstpage: x]")
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize("form", ["paths", "hits", "jsonl", "markdown", "paragraphs", "diff"])
def test_ten_thousand_lines_are_fast(form: str) -> None:
    line = {
        "paths": "src/m{0}.py\n",
        "hits": "src/m{0}.py:{0}:text\n",
        "jsonl": '{{"path": "src/m{0}.py"}}\n',
        "markdown": "- item {0}\n",
        "paragraphs": "Some words.\n",
        "diff": "diff --git a/m{0} b/m{0}\n--- a/m{0}\n+++ b/m{0}\n@@ -1 +1 @@\n-a\n+b\n",
    }[form]
    text = "".join(line.format(number) for number in range(10_000 // line.count("\n")))
    best = min(_seconds(text) for _ in range(3))
    assert best < 0.3  # three times what a busy machine takes
    assert detect(text) == form


def _seconds(text: str) -> float:
    start = time.perf_counter()
    parse(text)
    return time.perf_counter() - start


@pytest.mark.parametrize("form", FORMS)
def test_a_thousand_equal_items_stay_a_thousand(form: str, check_page) -> None:
    equal = {
        "paths": "a/b.py\n" * 1000,
        "hits": "".join(f"f{n}/a.py:1:x\n" for n in range(1000)),
        "rg-json": EXAMPLES["rg-json"].split('{"data"')[0] * 500,
        "json": json.dumps([{"a": 1}] * 1000),
        "jsonl": '{"a": 1}\n' * 1000,
        "diff": EXAMPLES["diff"] * 500,
        "markdown": "- a\n" * 1000,
        "paragraphs": "a\n\n" * 1000,
        "mcp": json.dumps({"content": [{"type": "text", "text": "a/b.py\n" * 1000}]}),
    }[form]
    assert len(parse(equal, form).items) == 1000
    check_page(equal, form, range(0, 1000, 7), "[firstpage: x]")
