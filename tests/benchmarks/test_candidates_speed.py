"""How long a Django-sized commit takes: 2,700 files, 16 MB; to be answered warm in 2 s on two cores."""

import random
import shutil
from pathlib import Path

import pytest
from firstpage.core.git import GitStore
from firstpage.core.items import Query
from firstpage.readers.blob_index import BlobIndex
from firstpage.readers.candidates import Union
from firstpage.readers.sources import PYTHON

FILES, WORDS = 2700, 600
QUERY = Query("QuerySet.delete() leaves the cache of a related_manager stale\n" + "some more words " * 50)


@pytest.fixture(scope="module")
def commits(make_repository):
    repository = make_repository()
    draw = random.Random(7)
    vocabulary = [
        f"{a}_{b}{c}" for a in ("get", "set", "Query", "cache") for b in "abcdefgh" for c in range(900)
    ]
    files = {
        f"package_{n % 90}/module_{n}.py": " ".join(draw.choices(vocabulary, k=WORDS)) for n in range(FILES)
    }
    first = repository.commit("first", files)
    second = repository.commit("second", {"package_1/module_1.py": "related_manager stale cache"})
    return repository.folder, first, second


def answer(folder: Path, commit: str, cache: Path) -> int:
    with GitStore(folder) as store, BlobIndex(store, cache) as index:
        return len(Union().candidates(index.corpus(commit, PYTHON), QUERY))


@pytest.mark.benchmark(group="candidates of 2,700 files")
def test_cold(benchmark, commits, tmp_path):
    folder, first, _ = commits

    def forget():
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)

    benchmark.pedantic(answer, (folder, first, tmp_path / "cache"), setup=forget, rounds=3)


@pytest.mark.benchmark(group="candidates of 2,700 files")
def test_warm(benchmark, commits, tmp_path):
    folder, first, _ = commits
    answer(folder, first, tmp_path / "cache")
    benchmark(answer, folder, first, tmp_path / "cache")


@pytest.mark.benchmark(group="candidates of 2,700 files")
def test_the_next_commit(benchmark, commits, tmp_path):
    folder, first, second = commits
    answer(folder, first, tmp_path / "first")

    def forget_the_second():
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        shutil.copytree(tmp_path / "first", tmp_path / "cache")

    benchmark.pedantic(answer, (folder, second, tmp_path / "cache"), setup=forget_the_second, rounds=5)
