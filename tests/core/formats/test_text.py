import pytest
from firstpage.core.formats._text import fences, read_lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ([], "\n", False)),
        ("a", (["a"], "\n", False)),
        ("a\nb\n", (["a", "b"], "\n", True)),
        ("a\r\nb\r\n", (["a", "b"], "\r\n", True)),
        ("a\r\nb\n", (["a\r", "b"], "\n", True)),
        ("a\x0cb\x85\u2028c\n", (["a\x0cb\x85\u2028c"], "\n", True)),
        ("a\n[firstpage: 1 of 2]\n", (["a"], "\n", True)),
        ("a\n[firstpage: 1 of 2]", (["a"], "\n", False)),
        ("a\r\n[firstpage: 1 of 2]\r\n", (["a"], "\r\n", True)),
        ("[firstpage: x]\na\n", (["[firstpage: x]", "a"], "\n", True)),
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
