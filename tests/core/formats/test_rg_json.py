import base64
import json
from pathlib import Path

import pytest
from firstpage.core.errors import InputError
from firstpage.core.formats import parse
from hypothesis import given
from hypothesis import strategies as st

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"


def message(kind: str, path: str = "a.py", **data: object) -> str:
    return json.dumps({"type": kind, "data": {"path": {"text": path}, **data}}, separators=(",", ":"))


def file(path: str, *numbers: int) -> str:
    lines = [message("begin", path), *(message("match", path, line_number=number) for number in numbers)]
    return "\n".join([*lines, message("end", path, stats={"searches": 1})]) + "\n"


SUMMARY = '{"data":{"elapsed_total":{"secs":0},"stats":{}},"type":"summary"}\n'


@given(
    st.lists(st.tuples(st.text(max_size=4), st.lists(st.integers(1, 9), max_size=3)), min_size=1, max_size=6),
    st.sampled_from(["", SUMMARY]),
    st.data(),
)
def test_pages_hold_the_chosen_files(check_page, files, summary, data) -> None:
    text = "".join(file(path, *numbers) for path, numbers in files) + summary
    answer = parse(text, "rg-json")
    assert answer.render(answer.items) == text
    places = data.draw(st.permutations(range(len(files))))[: data.draw(st.integers(0, len(files)))]
    page = check_page(text, "rg-json", places, data.draw(st.sampled_from(["", NOTE])))
    assert all("type" in json.loads(line) for line in page.split("\n")[:-1])


def test_the_note_is_the_last_message() -> None:
    page = parse(file("a.py", 1) + SUMMARY).render([], NOTE)
    assert page == SUMMARY + f'{{"type":"firstpage","data":{{"text":"{NOTE}"}}}}\n'


def test_matches_stand_between_the_begin_and_end_of_their_file() -> None:
    answer = parse(file("a.py", 1, 5) + file("b.py", 2, 3) + SUMMARY)
    assert [(item.path, item.metadata["line"]) for item in answer.items] == [("a.py", 1), ("b.py", 2)]
    (_, five), (two, three) = (answer.split(item) for item in answer.items)
    page = answer.render([three, five, two], NOTE)
    kinds = [json.loads(line)["type"] for line in page.split("\n")[:-1]]
    assert kinds == ["begin", "match", "match", "end", "begin", "match", "end", "summary", "firstpage"]
    assert len(page) <= len(answer.render([], NOTE)) + sum(
        len(answer.piece(part)) for part in (three, five, two)
    )
    assert [item.path for item in parse(page).items] == ["b.py", "a.py"]
    assert not answer.split(five)


def test_context_goes_with_the_match_it_touches() -> None:
    lines = [("match", 1), ("context", 2), ("context", 8), ("match", 9), ("context", 10)]
    body = "\n".join(message(kind, line_number=number) for kind, number in lines)
    answer = parse(f"{message('begin')}\n{body}\n{message('end')}\n")
    assert [part.text.count("\n") for part in answer.split(answer.items[0])] == [1, 2]


@pytest.mark.parametrize("context", [[], ["-C1"]])
def test_reads_what_ripgrep_prints(context: list[str], repo: Path, run, check_page) -> None:
    text = run(repo, "rg", "--json", *context, "needle", "--sort=path")
    answer = parse(text)
    assert answer.form == "rg-json"
    assert answer.render(answer.items) == text
    assert [item.path for item in answer.items] == run(repo, "rg", "-l", "needle", "--sort=path").split("\n")[
        :-1
    ]
    check_page(text, "rg-json", range(len(answer.items) - 1, -1, -2), NOTE)
    parts = [part for item in answer.items for part in answer.split(item) or [item]]
    assert answer.render(parts) == text


def test_reads_paths_that_are_no_utf8() -> None:
    raw = base64.b64encode(b"a\xff.py").decode()
    begin = '{"type":"begin","data":{"path":{"bytes":"%s"}}}\n'
    assert parse(begin % raw, "rg-json").items[0].path == "a\udcff.py"
    assert parse(begin % "no base64", "rg-json").items[0].path is None


def test_an_answer_cut_short_keeps_its_last_file() -> None:
    text = file("a.py", 1) + "\n".join(file("b.py", 2, 3).split("\n")[:3])
    answer = parse(text, "rg-json")
    assert [item.path for item in answer.items] == ["a.py", "b.py"]
    assert answer.render(answer.items) == text


@pytest.mark.parametrize("line", ["x", "[]", '{"a": 1}', '{"type": '])
def test_another_line_is_an_input_error(line: str) -> None:
    with pytest.raises(InputError):
        parse(file("a.py", 1) + line + "\n", "rg-json")
