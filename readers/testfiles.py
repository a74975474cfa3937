"""Which files are tests or stand beside the product, and when a query wants them all the same.

A fix seldom lies in a test, an example, a page of documentation or the build's own files, yet these repeat
the words of an issue more often than the code it is about. `hybrid` therefore leaves a fraction of their
values.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.items import Query
from .mentions import path_finder

_TEST_FOLDERS = {"tests", "__tests__", "__mocks__", "testdata", "test_data", "unittests", "e2e"}
# Only at the root or right below src: inside a package they may be its product, a client for tests say.
_TEST_ROOTS = {"test", "testing", "spec", "specs"}
# test_x.py, x_test.go, x.spec.ts, x-test.js, tests.py, conftest.py, XTest.java, XTests.cs, TestX.kt
_TEST_NAME = re.compile(
    r"(?:tests|conftest|test[_.-].*|.*[_.-]tests?|.*[a-z0-9](?:Tests?|TestCase|Spec)|Test[A-Z].*)\.\w+"
    r"|.*[_.-]specs?\.(?!py)\w+"  # in Python a specification, elsewhere a test
)
_BESIDE_ROOTS = {
    *("doc", "docs", "documentation", "tutorial", "tutorials", "gallery", "galleries"),
    *("example", "examples", "demo", "demos", "sample", "samples"),
    *("bench", "build_tools", "ci", "devtools", "scripts", "tools"),
}
_BESIDE_FOLDERS = {
    *("vendor", "vendored", "_vendor", "third_party", "thirdparty", "extern", "externals", "node_modules"),
    *("benchmark", "benchmarks", "asv_bench", "asv_benchmarks"),
}
_BESIDE_NAME = re.compile(r"(?:setup|versioneer|_version|noxfile|fabfile)\.py|.*_pb2(?:_grpc)?\.pyi?")
_MIGRATION = re.compile(r"(?:^|/)migrations/\d{4}_[^/]*$")

_ASKS = re.compile(
    r"\b(?:add|write|extend|improve|missing|flaky)\b(?:\W+\w+){0,4}?\W+(?:tests|test\W+(?:for|of|that|case)\w*)\b"
    r"|\bflaky\W+test\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 16)  # asked of all files of a commit, several times for each query
def is_test(path: str) -> bool:
    """Whether a path, by its folders or its name, is that of a test in one of the usual languages.

    Example:
        >>> [is_test(path) for path in ("a/tests/util.py", "a/x_test.go", "b/x.spec.ts", "a/test/client.py")]
        [True, True, True, False]
    """
    *folders, name = path.replace("\\", "/").split("/")
    roots = folders[1:2] if folders[:1] == ["src"] else folders[:1]
    return (
        not _TEST_FOLDERS.isdisjoint(folders)
        or not _TEST_ROOTS.isdisjoint(roots)
        or bool(_TEST_NAME.fullmatch(name))
    )


@lru_cache(maxsize=1 << 16)
def is_beside(path: str) -> bool:
    """Whether a path stands beside the product: documentation, examples, tools, set-up, foreign, generated.

    Example:
        >>> [is_beside(path) for path in ("docs/conf.py", "setup.py", "pip/_vendor/six.py", "a/docs.py")]
        [True, True, True, False]
    """
    path = path.replace("\\", "/")
    *folders, name = path.split("/")
    return (
        not _BESIDE_ROOTS.isdisjoint(folders[:1])
        or not _BESIDE_FOLDERS.isdisjoint(folders)
        or bool(_BESIDE_NAME.fullmatch(name))
        or bool(_MIGRATION.search(path))
    )


def asks_for_tests(query: Query) -> bool:
    """Whether the title of a query asks for a test to be written or mended.

    Example:
        >>> asks_for_tests(Query("Add a regression test for the cache"))
        True
    """
    return bool(_ASKS.search(query.title[:300]))


def demoted(query: Query, paths: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which paths are to count less: as tests, and as files beside the product; no path is both.

    A query whose title asks for tests, or names a file, lifts the demotion of all tests, or of that file.
    What the rest of a query names counts not: a traceback that starts in a test seldom ends there.

    Returns:
        Tests and files beside, shape ``(len(paths),)`` each.
    """
    named = path_finder(paths).named(query.title[:300]) == 1
    tests = np.array([is_test(path) for path in paths], dtype=np.bool_)
    beside = np.array([is_beside(path) for path in paths], dtype=np.bool_) & ~tests & ~named
    return tests & ~named & (not asks_for_tests(query)), beside
