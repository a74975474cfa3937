import pytest
from firstpage.core.formats._text import fences, read_lines

NOTE = "[firstpage: page 1 of 2, 1 of 2 items shown, 1 left: --page 2]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ([], "\n", False)),
        ("a", (["a"], "\n", False)),
        ("a\nb\n", (["a", "b"], "\n", True)),
        ("a\r\nb\r\n", (["a", "b"], "\r\n", True)),
        ("a\r\nb\n", (["a\r", "b"], "\n", True)),
        ("a\x0cb\x85\u2028c\n", (["a\x0cb\x85\u2028c"], "\n", True)),
        (f"a\n{NOTE}\n", (["a"], "\n", True)),
        (f"a\n{NOTE}", (["a"], "\n", False)),
        (f"a\r\n{NOTE}\r\n", (["a"], "\r\n", True)),
        (f"{NOTE}\na\n", ([NOTE, "a"], "\n", True)),
        ("a\n[firstpage: x]\n", (["a", "[firstpage: x]"], "\n", True)),
    ],
)
def test_reads_lines_without_the_note(text: str, expected: tuple[list[str], str, bool]) -> None:
    assert tuple(read_lines(text)) == expected


@pytest.mark.parametrize(
    ("lines", "ends"),
    [
        (["a", "```", "b", "```", "c"], [0, 4, 4, 4, 0]),
        (["```", "b"], [0, 0]),
        (["````", "```", "````"], [3, 3, 3]),
        (["~~~", "```", "~~~"], [3, 3, 3]),
        (["```py", "```sh", "```"], [3, 3, 3]),
        (["- ```", "  x", "  ```"], [3, 3, 3]),
        (["12. ~~~", "~~~"], [2, 2]),
        (["```a`b", "```"], [0, 0]),
    ],
)
def test_finds_closed_fences(lines: list[str], ends: list[int]) -> None:
    assert fences(lines) == ends
