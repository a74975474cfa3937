import subprocess

import numpy as np
import pytest
from firstpage.core.git import GitStore
from firstpage.core.items import Query
from firstpage.core.values import ranking
from firstpage.readers.blob_index import BlobIndex
from firstpage.readers.corpus_ranking import rank

FILES = {
    "pkg/cache.py": "class Cache:\n    def purge_stale(self): ...\n",
    "pkg/query.py": "class Query:\n    def run(self): ...\n",
    "pkg/empty.py": "",
    "pkg/binary.py": "\0\1\2",
    "tests/test_cache.py": "def test_purge_stale(): Cache().purge_stale(); assert stale\n",
}


@pytest.fixture
def corpus(tmp_path):
    repository = tmp_path / "repository"
    for path, text in FILES.items():
        target = repository / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    with GitStore(repository) as store:
        index = BlobIndex(store, tmp_path / "caches")
        yield index.corpus("HEAD", (".py",))
        index.close()


def ranked(corpus, text):
    return [corpus.files[place].path for place in ranking(rank(corpus, Query(text)))]


def test_the_file_that_the_query_is_about_is_first_and_its_test_behind_it(corpus):
    assert ranked(corpus, "Cache.purge_stale does nothing")[:2] == ["pkg/cache.py", "tests/test_cache.py"]


def test_a_path_counts_where_the_content_says_nothing(corpus):
    assert ranked(corpus, "the empty module")[0] == "pkg/empty.py"


def test_a_file_that_the_query_names_is_first(corpus):
    assert ranked(corpus, "purge\nsee pkg/query.py")[0] == "pkg/query.py"


def test_a_query_that_asks_for_tests_gets_them(corpus):
    assert ranked(corpus, "Add a test for purge_stale")[0] == "tests/test_cache.py"


@pytest.mark.parametrize("text", ["", "?!", "\ud800", "wholly unknown", "x" * 100_000, "the and of"])
def test_scores_are_finite_and_not_negative_whatever_the_query(corpus, text):
    scores = rank(corpus, Query(text))
    assert scores.shape == (len(FILES),)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()


def test_a_query_without_words_makes_everything_worthless(corpus):
    assert not rank(corpus, Query("?!")).any()


def test_a_corpus_without_files_has_no_scores(corpus):
    nothing = corpus.index.corpus("HEAD", (".go",))
    assert rank(nothing, Query("cache")).shape == (0,)
