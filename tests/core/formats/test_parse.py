"""What holds for all forms: names, detection, bad input, the note."""

import contextlib
import itertools
import json

import pytest
from firstpage.core.errors import InputError
from firstpage.core.formats import FORMS, decode, detect, encode, parse
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"
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
    "log": (
        "commit 1234567\nAuthor: A\n\n    First.\n\n a.py | 2 +-\n 1 file changed, 1 insertion(+)\n\n"
        "commit 2345678\nAuthor: B\n\n    - Second.\n"
    ),
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
    for size, note in itertools.product(range(count + 1), ["", NOTE]):
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


LINE_FORMS = ("paths", "hits", "log", "diff", "markdown", "paragraphs")


@given(st.binary(max_size=400))
def test_bytes_survive_decoding_and_every_line_form(data: bytes) -> None:
    text = decode(data)
    assert encode(text) == data or data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for form in ("auto", *LINE_FORMS):
        answer = FORMS[form](text) if form in FORMS else parse(text)
        for item in answer.items:
            answer.piece(item)
            answer.split(item)
        answer.render(answer.items, NOTE)


@pytest.mark.parametrize(
    ("form", "text", "likely"),
    [
        *((form, "[1, 2]\n", "json") for form in ("log", "diff", "hits", "markdown")),
        *((form, "Some words.\n\nAnd others.\n", "paragraphs") for form in ("log", "diff", "hits")),
        ("diff", "src/a.py\nsrc/b.py\n", "paths"),
    ],
)
def test_a_text_that_has_nothing_of_the_form_named_is_an_input_error(form, text, likely) -> None:
    with pytest.raises(InputError, match=f"no answer in the form '{form}'; it looks like '{likely}'"):
        parse(text, form)


@pytest.mark.parametrize("form", EXAMPLES)
def test_a_byte_order_mark_stays_at_the_start_of_a_page(form: str) -> None:
    text = decode(b"\xef\xbb\xbf" + EXAMPLES[form].encode())
    answer = parse(text)
    assert answer.form == form
    assert answer.render(answer.items) == text
    page = answer.render(answer.items[1:], NOTE)
    assert page == f"\ufeff{parse(EXAMPLES[form]).render(answer.items[1:], NOTE)}"
    assert len(page) <= len(answer.render([], NOTE)) + sum(map(len, map(answer.piece, answer.items[1:])))
    again = parse(page, form)
    assert [item.text for item in again.items] == [item.text for item in answer.items[1:]]


def test_markdown_without_tables_and_lists_is_paragraphs() -> None:
    assert parse("# Title\n\nWords.\n", "markdown").form == "paragraphs"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_read_by_its_mark_and_its_pages_are_utf_8(encoding: str) -> None:
    text = "src/ä.py:1:x\nsrc/b.py:2:y\n"
    answer = parse(decode(f"\ufeff{text}".encode(encoding)))
    assert [item.path for item in answer.items] == ["src/ä.py", "src/b.py"]
    assert encode(answer.render(answer.items)) == text.encode()
    assert decode(b"\xff\xfea") == "\udcff\udcfea"


@given(st.text("ab/.-:1|#`~\n\r\0@+ \t*>", max_size=80))
def test_paragraphs_give_back_any_text(text: str) -> None:
    answer = parse(text, "paragraphs")
    assert answer.render(answer.items) == text


# tests/benchmarks measures how long they take.
@pytest.mark.parametrize(
    "unit", ["x", "a-1-", "a:1", " ", "[", "|", "`", "\0", "@@ -1,1 ", "Files and ", "{a => "]
)
def test_a_long_line_is_read_in_every_form(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    for form in ("auto", *FORMS):
        with contextlib.suppress(InputError):
            answer = parse(text, form)
            answer.render(answer.items, NOTE)


@pytest.mark.parametrize("line", [" a" + " " * 20_000 + "| x", " " + "{a => " * 4_000 + "| 2 +"])
def test_a_long_line_of_a_stat_is_read(line: str) -> None:
    answer = parse(f"{line}\n")
    assert answer.render(answer.items) == f"{line}\n"


LINES = {
    "paths": "src/m{0}.py\n",
    "hits": "src/m{0}.py:{0}:text\n",
    "jsonl": '{{"path": "src/m{0}.py"}}\n',
    "markdown": "- item {0}\n",
    "paragraphs": "Some words.\n",
}


@pytest.mark.parametrize("form", LINES)
def test_the_first_of_ten_thousand_lines_tell_the_form_of_all(form: str) -> None:
    assert detect("".join(LINES[form].format(number) for number in range(10_000))) == form


@pytest.mark.parametrize("form", FORMS)
def test_a_thousand_equal_items_stay_a_thousand(form: str, check_page) -> None:
    equal = {
        "paths": "a/b.py\n" * 1000,
        "hits": "".join(f"f{n}/a.py:1:x\n" for n in range(1000)),
        "rg-json": EXAMPLES["rg-json"].split('{"data"')[0] * 500,
        "json": json.dumps([{"a": 1}] * 1000),
        "jsonl": '{"a": 1}\n' * 1000,
        "log": EXAMPLES["log"].replace("Second.\n", "Second.\n\n") * 500,
        "diff": EXAMPLES["diff"] * 500,
        "markdown": "- a\n" * 1000,
        "paragraphs": "a\n\n" * 1000,
        "mcp": json.dumps({"content": [{"type": "text", "text": "a/b.py\n" * 1000}]}),
    }[form]
    assert len(parse(equal, form).items) == 1000
    check_page(equal, form, range(0, 1000, 7), NOTE)


OWN = "[firstpage: ready, listening on port 3000]"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        *((form, f"{EXAMPLES[form]}{OWN}\n") for form in ("paths", "hits", "diff", "markdown", "paragraphs")),
        ("rg-json", EXAMPLES["rg-json"] + f'{{"type":"firstpage","data":{{"text":"{OWN}"}}}}\n'),
        ("jsonl", EXAMPLES["jsonl"] + f'{{"firstpage": "{OWN}"}}\n'),
        ("json", EXAMPLES["json"].replace("]}", f'], "firstpage": "{OWN}"}}')),
        ("json", json.dumps(["a", OWN])),
        ("json", json.dumps([{"a": 1}, {"firstpage": OWN}])),
        ("mcp", json.dumps({"content": [{"type": "text", "text": text} for text in ("a.py\nb.py\n", OWN)]})),
    ],
)
def test_a_last_line_or_element_that_only_starts_as_a_note_does_is_kept(form: str, text: str) -> None:
    answer = parse(text, form)
    if form == "markdown":  # a blank line is put there, for the line would else belong to the table
        text = text.replace(OWN, f"\n{OWN}")
    assert answer.render(answer.items) == text
    again = parse(answer.render(answer.items, NOTE), form)
    assert again.render(again.items).rstrip("\n") == text.rstrip("\n")
