import ast
import random
import sysconfig
from itertools import pairwise
from pathlib import Path

import pytest
from firstpage.train.functions import Hunk, definitions, touched
from hypothesis import given
from hypothesis import strategies as st

SOURCE = '''\
"""Not a def f(): pass."""

import os


@decorated(
    "with",
    arguments,
)
class Cache:
    """Keeps things.

def not_this(): pass
    """

    size = 1

    @property
    def get(self) -> (
        int
    ):
        def inner():
            return 1

        # a comment at the left
# is no end
        return inner()

    async def put(self, x):
        return "def nor_this(): pass"


def after(): return 2


CONSTANT = 1
'''


def names(*hunks):
    return [one.name for one in touched(SOURCE, hunks)]


def line(text):
    return SOURCE.split("\n").index(text) + 1


def test_functions_and_classes_are_found_with_their_decorators():
    found = [(one.name, one.start, one.end) for one in definitions(SOURCE)]
    assert found == list(by_ast(ast.parse(SOURCE), ""))
    assert [name for name, *_ in found] == ["Cache", "Cache.get", "Cache.get.inner", "Cache.put", "after"]
    assert found[0][1] == line("@decorated(")


def test_python_2_and_code_that_does_not_compile_are_read():
    text = "def f(a, (b, c)):\n    print 'x'\n    raise E, 'y'\n\nclass A:\n\tdef g(self):\n\t\tif (\n"
    assert [one.name for one in definitions(text)] == ["f", "A", "A.g"]


def test_cython_functions_are_found():
    text = (
        "cdef class A:\n    cpdef int f(self, x):\n        pass\n"
        "    cdef inline double *g(int x) nogil:\n        pass\n"
    )
    assert [one.name for one in definitions(text)] == ["A", "A.f", "A.g"]


def test_the_innermost_definition_is_the_one_touched():
    inner = line("            return 1")
    assert names(Hunk(inner, inner + 1)) == ["Cache.get.inner"]
    assert names(Hunk(line("    size = 1"), line("    size = 1") + 1)) == ["Cache"]
    assert names(Hunk(line("CONSTANT = 1"), line("CONSTANT = 1") + 1)) == []
    assert names(Hunk(3, 4)) == []


def test_a_hunk_over_several_definitions_touches_each_once():
    assert names(Hunk(line("            return 1"), line("def after(): return 2") + 1), Hunk(25, 26)) == [
        "Cache.get",
        "Cache.get.inner",
        "Cache.put",
        "after",
    ]


@pytest.mark.parametrize(
    ("before", "indent", "name"),
    [
        ("    async def put(self, x):", 8, ["Cache.get"]),
        ("    async def put(self, x):", 4, ["Cache"]),
        ("        # a comment at the left", 12, ["Cache.get.inner"]),
        ("        # a comment at the left", 8, ["Cache.get"]),
        ("def after(): return 2", 8, ["Cache.put"]),
        ("def after(): return 2", 4, ["Cache"]),
        ("def after(): return 2", 0, []),
        ("import os", 0, []),
    ],
)
def test_what_is_added_belongs_where_its_indentation_says(before, indent, name):
    place = line(before)
    assert names(Hunk(place, place, indent)) == name


def test_lines_outside_of_the_file_touch_nothing():
    assert names(Hunk(1000, 1005), Hunk(1000, 1000, 4), Hunk(1, 1, 4)) == []
    assert touched("", [Hunk(1, 1, 4), Hunk(1, 2)]) == []


def test_what_python_says_of_its_own_library_is_found():
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    right = told = 0
    for path in random.Random(1).sample(files, 30):
        text = path.read_text(encoding="utf-8")
        true = set(by_ast(ast.parse(text), ""))
        right += len(true & {(one.name, one.start, one.end) for one in definitions(text)})
        told += len(true)
    assert told > 500
    assert right >= 0.995 * told


def by_ast(node, outer):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            start = min([child.lineno, *(one.lineno for one in child.decorator_list)])
            yield outer + child.name, start, child.end_lineno + 1
            yield from by_ast(child, f"{outer}{child.name}.")
        else:
            yield from by_ast(child, outer)


@given(
    st.lists(
        st.sampled_from(
            ["def f():", "class A:", "@d", "x = '''", "'''", '"""', ")", "(", "# c", "", "\t", "return", "\\"]
        ).flatmap(lambda code: st.integers(0, 3).map(lambda depth: "    " * depth + code)),
        max_size=25,
    ),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5), st.integers(0, 12)), max_size=5),
)
def test_whatever_the_text_definitions_nest_and_lie_within_it(lines, places):
    text = "\n".join(lines)
    found = definitions(text)
    for one in found:
        assert 1 <= one.start < one.end <= len(lines) + 1
    for one, other in pairwise(found):
        assert one.start < other.start
        assert other.start >= one.end or other.end <= one.end
    changed = touched(text, [Hunk(start, start + count, indent) for start, count, indent in places if start])
    assert set(changed) <= set(found)
    assert len(changed) == len(set(changed))
