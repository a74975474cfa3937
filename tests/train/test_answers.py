"""Answers made of mined rows."""

import pytest
from firstpage.core.git import GitStore
from firstpage.core.items import Query
from firstpage.readers.blob_index import BlobIndex
from firstpage.readers.sources import PYTHON
from firstpage.train.answers import answer

FILES = {
    "app/cache.py": "class CacheStore:\n" + "    CacheStore.clear()\n" * 20,
    "app/long.py": "CacheStore = " + "x" * 500 + "\n",
    "app/views.py": "def index(): ...\n",
}


@pytest.fixture
def made(repository):
    repository.commit("first", FILES)

    def make(form, text="CacheStore is stale"):
        with GitStore(repository.folder) as store, BlobIndex(store) as index:
            items = answer(index.corpus("HEAD", PYTHON), Query(text), form)
            return [(item.path, item.text, item.content) for item in items]

    return make


def test_bodies_are_scored_and_paths_shown(made):
    assert made("bodies") == [(path, path, FILES[path]) for path in ("app/cache.py", "app/long.py")]


def test_paths_have_no_body(made):
    assert made("paths") == [(path, path, None) for path in ("app/cache.py", "app/long.py")]


def test_hits_are_the_first_ten_lines_that_hold_a_keyword_cut_where_they_are_long(made):
    (_, cache, _), (_, long, _) = made("hits")
    assert cache.split("\n")[0] == "app/cache.py:1:class CacheStore:"
    assert len(cache.split("\n")) == 10
    assert long == "app/long.py:1:" + FILES["app/long.py"][:200]


@pytest.mark.parametrize("form", ["bodies", "hits", "paths"])
def test_a_query_without_keywords_lists_what_grep_falls_back_to(made, form):
    assert [path for path, _, _ in made(form, "the and of")] == ([] if form == "hits" else sorted(FILES))
