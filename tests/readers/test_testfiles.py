import numpy as np
import pytest
from firstpage.core.items import Query
from firstpage.readers.testfiles import asks_for_tests, demoted, is_beside, is_test


@pytest.mark.parametrize(
    "path",
    [
        "tests/util.py",
        "pkg/tests/__init__.py",
        "pkg/test_cache.py",
        "pkg/cache_test.py",
        "pkg/tests.py",
        "conftest.py",
        "pkg/conftest.py",
        "test/core/parser.py",
        "src/test/java/org/Cache.java",
        "testing/fixtures.py",
        "go/cache_test.go",
        "web/cache.spec.ts",
        "web/cache.test.jsx",
        "web/__tests__/cache.js",
        "src/CacheTest.java",
        "src/CacheTests.cs",
        "spec/models/user_spec.rb",
        "app/TestCache.kt",
        "pkg\\tests\\util.py",
        "pkg/testdata/module.py",
    ],
)
def test_tests_of_many_languages_are_recognised(path):
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "pkg/cache.py",
        "django/test/client.py",
        "pkg/testing/decorators.py",
        "pkg/management/commands/test.py",
        "pkg/latest.py",
        "pkg/contest.py",
        "pkg/attestation.go",
        "src/Latest.java",
        "pkg/spectrum.py",
        "pkg/openapi_spec.py",
        "src/_pytest/python.py",
    ],
)
def test_product_code_that_sounds_like_tests_is_no_test(path):
    assert not is_test(path)


@pytest.mark.parametrize(
    "path",
    [
        "docs/conf.py",
        "examples/plot.py",
        "setup.py",
        "pkg/extern/six.py",
        "pip/_vendor/six.py",
        "web/node_modules/x/index.js",
        "app/migrations/0001_initial.py",
        "pkg/api_pb2.py",
        "benchmarks/run.py",
        "sympy/core/benchmarks/bench_numbers.py",
    ],
)
def test_what_stands_beside_the_product_is_recognised(path):
    assert is_beside(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "pkg/docs.py",
        "pkg/examples/load.py",
        "django/db/migrations/writer.py",
        "pkg/tools/cli.py",
        "pkg/conf.py",
    ],
)
def test_folders_inside_a_package_belong_to_the_product(path):
    assert not is_beside(path)


@pytest.mark.parametrize(
    "title",
    ["Add a test for the cache", "write tests", "Missing unit tests for QuerySet", "Flaky test on Windows"],
)
def test_titles_that_ask_for_tests(title):
    assert asks_for_tests(Query(title))


@pytest.mark.parametrize(
    "title",
    [
        "",
        "Cache fails in tests",
        "Add a test client",
        "add support for latest numpy",
        "the test suite is slow",
    ],
)
def test_titles_that_do_not_ask_for_tests(title):
    assert not asks_for_tests(Query(title))


def kinds(text, paths):
    tests, beside = demoted(Query(text), paths)
    return ["test" if test else "beside" if by else "" for test, by in zip(tests, beside, strict=True)]


def test_tests_and_files_beside_are_demoted():
    paths = ["pkg/cache.py", "tests/test_cache.py", "setup.py", ""]
    assert kinds("stale cache", paths) == ["", "test", "beside", ""]


def test_a_test_beside_the_product_is_a_test():
    assert kinds("stale cache", ["docs/tests/conf.py"]) == ["test"]
    assert kinds("add tests for the docs", ["docs/tests/conf.py"]) == [""]


def test_asking_for_tests_lifts_the_demotion_of_all_tests():
    assert kinds("add tests for the cache", ["tests/test_cache.py", "setup.py"]) == ["", "beside"]


def test_a_file_that_the_title_names_is_not_demoted():
    paths = ["tests/test_cache.py", "tests/test_query.py", "setup.py"]
    assert kinds("test_cache.py hangs", paths) == ["", "test", "beside"]
    assert kinds("setup.py is outdated", paths) == ["test", "test", ""]


def test_a_test_named_below_the_title_stays_demoted():
    assert kinds('It fails\n  File "tests/test_cache.py", line 3, in test_it', ["tests/test_cache.py"]) == [
        "test"
    ]


def test_no_paths_are_not_demoted():
    tests, beside = demoted(Query("x"), [])
    assert tests.shape == beside.shape == (0,)
    assert tests.dtype == beside.dtype == np.bool_
