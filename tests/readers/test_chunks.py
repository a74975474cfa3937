import pytest
from firstpage.readers.chunks import READ, chunks, document, outline
from hypothesis import given, settings
from hypothesis import strategies as st

PYTHON = '''"""Carts."""
import os

LIMIT = 5


class Cart:
    """A cart."""

    size = 0

    @property
    def total(self):
        return sum(self.prices)

    def add(self, item):
        self.items.append(item)
        return self


def clear(cart):
    cart.items = []
'''

lines = st.sampled_from([
    "def f(x):", "    def g(self):", "class A(B):", "        return 1", "    x = [", "]", "", "'''", "@d",
    "\tif x:",
    "x = 'é\u2028'", "#", "}" * 30, "function f() {", "}", "\r",
])  # fmt: skip


@settings(deadline=None)
@given(st.lists(lines, max_size=40), st.sampled_from(["a.py", "a.js", "a.txt", "a"]), st.integers(8, 300))
def test_texts_joined_are_the_file_and_every_line_is_in_order(written, path, most):
    text = "\n".join(written)
    found = chunks(path, text, most)
    assert "".join(chunk.text for chunk in found) == text
    assert all(0 < len(chunk.text) <= most for chunk in found)
    starts = [chunk.start for chunk in found]
    assert starts == sorted(starts)
    split = text.split("\n")
    assert all(chunk.text.split("\n")[0] in split[chunk.start - 1] for chunk in found)
    assert all(chunk.end > chunk.start for chunk in found)


def test_functions_and_methods_are_chunks_under_what_is_around_them():
    headers = [chunk.header for chunk in chunks("shop/cart.py", PYTHON, most=120)]
    assert "shop/cart.py > class Cart > def add" in headers
    assert "shop/cart.py > def clear" in headers


def test_a_decorator_belongs_to_its_function():
    found = {chunk.header: chunk.text for chunk in chunks("c.py", PYTHON, most=120)}
    assert found["c.py > class Cart > def total"].lstrip().startswith("@property")


def test_small_neighbours_become_one_chunk_under_what_they_share():
    found = chunks("c.py", PYTHON, most=4_000)
    assert [(chunk.start, chunk.header) for chunk in found] == [(1, "c.py")]


def test_a_long_function_is_cut_between_lines_and_keeps_its_header():
    text = "def f():\n" + "    x = 1\n" * 100
    found = chunks("f.py", text, most=200)
    assert len(found) > 3
    assert {chunk.header for chunk in found} == {"f.py > def f"}
    assert all(chunk.text.endswith("\n") for chunk in found)


def test_a_long_line_is_cut_and_its_pieces_share_its_number():
    found = chunks("a.min.js", "x" * 1000 + "\ny", most=300)
    assert [(chunk.start, len(chunk.text)) for chunk in found[:3]] == [(1, 300)] * 3


GO = "package a\n\nfunc (s *Set) Add(x int) {\n" + "\ts.x()\n" * 20 + "}\n"
TYPESCRIPT = "export class A {\n" + "  b() {\n" + "    c();\n" * 20 + "  }\n}\n"
PYTHON_2 = "class A:\n    def f(self):\n        print 'old'\n" + "        x\n" * 20


@pytest.mark.parametrize(
    ("path", "text", "header"),
    [
        ("a.go", GO, "a.go > func (s *Set) Add"),
        ("a.ts", TYPESCRIPT, "a.ts > class A > method b"),
        ("a.pyx", "cdef int x\ndef f():\n" + "    pass\n" * 20, "a.pyx > def f"),
        ("a.py", PYTHON_2, "a.py > class A > def f"),
    ],
)
def test_other_languages_and_old_python_are_followed(path, text, header):
    assert header in [chunk.header for chunk in chunks(path, text, most=80)]


def test_ten_megabytes_are_read_up_to_the_limit():
    found = chunks("big.txt", "word " * 2_000_000)
    assert sum(len(chunk.text) for chunk in found) == READ


def test_nothing_has_no_chunks():
    assert chunks("a.py", "") == []


def test_windows_lines_stay_as_they_are():
    text = "def f():\r\n    return 1\r\n\r\ndef g():\r\n    return 2\r\n"
    assert "".join(chunk.text for chunk in chunks("a.py", text, most=30)) == text


def test_a_document_begins_with_the_header():
    (chunk,) = chunks("a.py", "x = 1\n")
    assert document(chunk) == "a.py\nx = 1\n"


def test_an_outline_tells_path_explanation_and_names():
    assert outline("shop/my_cart.py", PYTHON) == "shop my cart py\nCarts.\nCart total add clear LIMIT"


def test_an_outline_reads_leading_comments():
    assert "Sets of numbers" in outline("a.go", "// Sets of numbers.\npackage a\nfunc Add() {}\n")


def test_an_outline_leaves_out_what_python_calls_itself():
    assert "__init__" not in outline("a.py", "class A:\n    def __init__(self): ...\n")


def test_the_outline_of_nothing_is_its_path():
    assert outline("a/b.py", "").split() == ["a", "b", "py"]
