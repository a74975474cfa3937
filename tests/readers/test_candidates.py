import pytest
from firstpage.core.errors import InputError
from firstpage.core.git import GitStore
from firstpage.core.items import Query
from firstpage.readers.blob_index import BlobIndex
from firstpage.readers.candidates import candidate_generators, candidate_items
from firstpage.readers.sources import PYTHON

FILES = {
    "app/cache.py": "class CacheStore:\n    def clear_entries(self): ...",
    "app/models.py": "from app.cache import CacheStore",
    "app/views.py": "def index(): ...",
    "tests/test_cache.py": "CacheStore clear_entries " * 9,
    "README.md": "CacheStore",
}


@pytest.fixture
def found(repository):
    repository.commit("first", FILES)

    def generate(name, text, limit=50):
        with GitStore(repository.folder) as store, BlobIndex(store) as index:
            corpus = index.corpus("HEAD", PYTHON)
            places = candidate_generators.create(name).candidates(corpus, Query(text), limit)
            return [item.id for item in candidate_items(corpus, places)]

    return generate


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # All of the first three keywords, those left out that no file holds.
        ("CacheStore clear_entries", ["app/cache.py", "tests/test_cache.py"]),
        ("CacheStore clear_entries NoSuchNameAnywhere", ["app/cache.py", "tests/test_cache.py"]),
        # No file holds all three: the first two, by weight.
        ("CacheStore clear_entries index", ["app/cache.py", "tests/test_cache.py"]),
        # No file holds the first two: the union, keyword by keyword.
        ("clear_entries index", ["app/cache.py", "tests/test_cache.py", "app/views.py"]),
        # Nothing found, or nothing to look for: all files.
        ("nowhere_to_be_found", ["app/cache.py", "app/models.py", "app/views.py", "tests/test_cache.py"]),
        ("the and of", ["app/cache.py", "app/models.py", "app/views.py", "tests/test_cache.py"]),
        ("", ["app/cache.py", "app/models.py", "app/views.py", "tests/test_cache.py"]),
    ],
)
def test_grep_falls_back_from_intersection_to_union_to_all(found, query, expected):
    assert found("grep", query) == expected


def test_bm25_puts_code_before_its_tests_and_leaves_out_what_shares_no_word(found):
    assert found("bm25", "CacheStore keeps stale entries")[0] == "app/cache.py"
    assert "app/views.py" not in found("bm25", "CacheStore")
    assert found("bm25", "") == []


def test_the_union_adds_what_only_grep_finds_and_nothing_twice(found):
    union = found("union", "CacheStore", limit=2)
    ranked, grep = found("bm25", "CacheStore", limit=2), found("grep", "CacheStore", limit=2)
    assert union == ranked + [path for path in grep if path not in ranked]


def test_wide_adds_what_history_and_names_find_and_nothing_twice(found):
    wide = found("wide", "app.views is first", limit=5)
    assert set(wide) >= {*found("union", "app.views is first", limit=5), *found("history", "first", limit=2)}
    assert "app/views.py" in wide
    assert len(set(wide)) == len(wide)


def test_dense_finds_the_files_nearest_to_the_query_s_title_and_demotes_tests(found, encoder_folder):
    asked = f"dense@{encoder_folder}"
    assert found(asked, "clear the store\n\nindex of views")[0] == "app/cache.py"
    assert found(asked, "clear entries")[0] == "app/cache.py"  # the test holds nothing else
    assert found(asked, "an index")[0] == "app/views.py"
    assert len(found(asked, "clear the store", limit=1)) == 1


@pytest.mark.parametrize("name", ["grep", "bm25", "union", "names", "history", "dense", "wide", "everything"])
def test_the_limit_is_kept(found, name):
    assert len(found(name, "CacheStore", limit=1)) <= ({"union": 2, "wide": 5, "everything": 6}.get(name, 1))


def test_names_finds_who_defines_what_the_query_names_and_the_modules_that_it_imports(found):
    assert found("names", "`CacheStore` is slow")[0] == "app/cache.py"
    assert found("names", "from app.views import index")[0] == "app/views.py"
    assert found("names", "nothing here") == []


def test_history_finds_what_was_changed_for_the_like(repository, found):
    assert found("history", "views are slow") == []
    repository.commit("Views are faster", {**FILES, "app/views.py": "def index(): return 1"})
    with GitStore(repository.folder) as store, BlobIndex(store) as index:
        corpus = index.corpus("HEAD", PYTHON)
        (place,) = candidate_generators.create("history").candidates(corpus, Query("slow views"))
        assert corpus.paths[place] == "app/views.py"


def test_items_show_the_path_and_are_scored_by_the_body(repository):
    repository.commit("first", FILES)
    with GitStore(repository.folder) as store, BlobIndex(store) as index:
        (item,) = candidate_items(index.corpus("HEAD", PYTHON), [2])
        assert (item.text, item.path, item.content) == ("app/views.py", "app/views.py", "def index(): ...")


def test_an_unknown_generator_is_answered_with_the_nearest():
    with pytest.raises(InputError, match="no candidate generator 'gerp'; did you mean 'grep'"):
        candidate_generators.create("gerp")
