from pathlib import Path

import pytest
from firstpage.core.formats import parse
from firstpage.core.formats.log import parse_log

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"


@pytest.mark.parametrize("options", [[], ["--graph"], ["--color=always"], ["--graph", "--color=always"]])
@pytest.mark.parametrize(
    "command",
    [
        [],
        ["--stat"],
        ["-p", "--binary"],
        ["--stat", "-p", "--binary"],
        ["--oneline", "--decorate"],
        ["--oneline", "--stat"],
        ["--format=fuller", "--decorate"],
    ],
    ids=" ".join,
)
def test_an_item_is_a_commit(command: list[str], options: list[str], repo: Path, run, check_page) -> None:
    text = run(repo, "git", "log", *command, *options)
    answer = parse(text, "log")
    assert len(answer.items) == 2
    assert "--stat" in command or "-p" in command or parse(text).form == "log"
    assert ["commit" in item.text for item in answer.items] == [True, True]
    assert "Second commit" in answer.items[0].text
    assert answer.render(answer.items) == text
    assert answer.render(answer.items[::-1]) == text
    check_page(text, "log", [1], NOTE)
    assert answer.render(answer.items[1:]).startswith(answer.items[1].text)


@pytest.mark.parametrize("options", [["--stat"], ["-p"], ["--stat", "-p"], ["-p", "--color=always"]])
def test_parts_of_a_commit_stand_under_its_head(options: list[str], repo: Path, run) -> None:
    text = run(repo, "git", "log", *options)
    answer = parse(text)
    assert answer.form == "log"
    parts = [part for item in answer.items for part in answer.split(item) or [item]]
    if "-p" in options:
        assert len(parts) > 10
        assert {part.path for part in parts} >= {"src/deep/a-1-b/x.py", "new name.py"}
    assert answer.render(parts) == text
    chosen = [parts[-1], parts[3 % len(parts)], parts[0]]
    page = answer.render(chosen, NOTE)
    assert page.count("Second commit") == 1
    assert len(page) <= len(answer.render([], NOTE)) + sum(len(answer.piece(part)) for part in chosen)
    assert not any(answer.split(part) for part in parts if "." in part.id)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1234abc One.\n2345bcd Two.\n", "log"),
        ("* 1234abc One.\n|\\  \n| * 2345bcd Two.\n|/  \n", "log"),
        ("* commit 1234abc\n| Author: A\n|\n* commit 2345bcd\n  Author: B\n", "log"),
        ("1234567 words\n2345678 words\n", "paragraphs"),
        (
            "1234abc (A 2024-01-01 10:00:00 +0000 1) x\n1234abc (A 2024-01-01 10:00:00 +0000 2) y\n",
            "paragraphs",
        ),
        ("commit to this\ncommit to that\n", "paragraphs"),
    ],
)
def test_tells_a_log_from_other_text(text: str, form: str) -> None:
    answer = parse(text)
    assert (answer.form, len(answer.items)) == (form, 2 if form == "log" else 1)
    assert answer.render(answer.items) == text


def test_a_text_without_commits_has_no_items() -> None:
    assert not parse_log("no commit\n").items
