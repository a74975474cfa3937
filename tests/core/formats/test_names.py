import pytest
from firstpage.core.formats._names import is_file_like, is_name_like, lookup_path


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a/b.py", "a/b.py"),
        ("./a/b.py", "a/b.py"),
        ("././/a", "a"),
        ("./", "./"),
        ("../a", "../a"),
        ("/a/b", "/a/b"),
        (r'"a\tb\303\244.py"', "a\tbä.py"),
        (r'"a\\b\"c"', 'a\\b"c'),
        (r'"\\\\n"', "\\\\n"),
        (r'"bad\377"', "bad\udcff"),
        (r"C:\x\y.py", "C:/x/y.py"),
        (r"src\core\a b.py", "src/core/a b.py"),
        (r".\a.py", "a.py"),
        (r"\\host\share\a.py", "//host/share/a.py"),
        (r"posix/with\backslash", r"posix/with\backslash"),
        ('"', '"'),
        ("", ""),
    ],
)
def test_looks_up_what_a_tool_means_by_a_name(name: str, path: str) -> None:
    assert lookup_path(name) == path


@pytest.mark.parametrize(
    ("name", "file_like", "name_like"),
    [
        ("a.py", True, True),
        ("src/a", True, False),
        ("Makefile", False, True),
        ("3.14", False, True),
        ("a b.py", False, False),
        ("x/a b.py", True, False),
        ("http://x/y.html", False, False),
        ("</div>", False, False),
        (r"C:\x", True, False),
        ("a.py:3", False, False),
        (r'"\303\244"', True, False),
        ('"plain"', False, False),
        ("", False, False),
        ("a/" * 3000, False, False),
    ],
)
def test_tells_what_looks_like_a_file(name: str, file_like: bool, name_like: bool) -> None:
    assert (is_file_like(name), is_name_like(name)) == (file_like, name_like)
