"""How long the learned ranker takes in a Django-sized repository: 2,700 files, 16 MB, 500 commits.

Aims, on two cores: 50 candidates ranked in 60 ms once everything is cached, in 500 ms with a cross-encoder
over the ten best; every file embedded from nothing in 120 s, and in 1 s for the next commit.
"""

import random
import shutil
import subprocess
import sys

import pytest
from firstpage.core.git import GitStore
from firstpage.core.items import Query
from firstpage.core.values import ranking
from firstpage.readers.bi_encoder import similarities
from firstpage.readers.blob_index import BlobIndex
from firstpage.readers.candidates import Wide, candidate_items
from firstpage.readers.cross_encoder import CrossEncoder
from firstpage.readers.fused import Fused
from firstpage.readers.sources import PYTHON

FILES, COMMITS, CANDIDATES, BEST = 2700, 500, 50, 10
QUERY = Query(
    "Deleting a queryset leaves the cache of its related manager stale\n\n"
    + "After `queryset.delete()` the prefetched objects are still there, so the page shows rows of old. " * 8
    + "\n```python\nfrom package_3 import QueryManager\nQueryManager().delete_related(cache=True)\n```\n"
)
# What stands below is a process of its own, whose peak memory is its own too.
EMBED = """
import resource, sys
from pathlib import Path
from firstpage.core.git import GitStore
from firstpage.core.items import Query
from firstpage.readers.blob_index import BlobIndex
from firstpage.readers.candidates import Dense
from firstpage.readers.sources import PYTHON
with GitStore(Path(sys.argv[1])) as store, BlobIndex(store) as index:
    print(len(Dense().candidates(index.corpus(sys.argv[2], PYTHON), Query("stale cache"))))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.fixture(scope="module")
def commits(make_repository):
    """The last commits of a repository of modules with classes, methods and docstrings."""
    repository = make_repository()
    draw = random.Random(7)
    stems, endings = ("query", "cache", "model", "view", "page", "field"), ("", "set", "_row", "_key")
    nouns = [stem + ending for stem in stems for ending in endings]
    verbs = ["get", "set", "delete", "reload", "render", "validate", "save", "resolve"]
    paths = [f"package_{n % 90}/module_{n}.py" for n in range(FILES)]
    repository.commit("first", {path: module(draw, nouns, verbs) for path in paths})
    for number in range(COMMITS):
        message = f"{draw.choice(verbs).title()} the {draw.choice(nouns)} of {draw.choice(nouns)} {number}"
        first = repository.commit(message, {draw.choice(paths): module(draw, nouns, verbs)})
    second = repository.commit("Related managers", {paths[1]: module(draw, nouns, verbs)})
    return repository.folder, first, second


def module(draw, nouns, verbs):
    """About 6 KB of Python."""
    lines = [f'"""How the {draw.choice(nouns)} meets the {draw.choice(nouns)}."""', "", "import os", ""]
    for _ in range(3):
        lines += [f"class {draw.choice(nouns).title()}{draw.randrange(1000)}:"]
        for _ in range(6):
            noun = draw.choice(nouns)
            lines += [f"    def {draw.choice(verbs)}_{noun}(self, {noun}, other=None):"]
            lines += [f'        """Sees to the {noun}, unless it is stale."""']
            lines += [
                f"        self.{draw.choice(nouns)} = {draw.choice(verbs)}({noun}, {n})" for n in range(4)
            ]
            lines += [f"        return self.{noun}", ""]
    return "\n".join(lines)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of the caches, empty."""
    monkeypatch.setenv("FIRSTPAGE_CACHE", str(tmp_path / "cache"))
    similarities.cache_clear()  # which keeps its file open
    return tmp_path / "cache"


@pytest.fixture
def candidates(commits, cache):
    """Fifty of them, all caches warm."""
    folder, first, _ = commits
    with GitStore(folder) as store, BlobIndex(store) as index:
        corpus = index.corpus(first, PYTHON)
        items = candidate_items(corpus, Wide().candidates(corpus, QUERY)[:CANDIDATES])
        Fused().values(QUERY, items)
        yield items


@pytest.mark.benchmark(group="the learned ranker, 50 candidates of 2,700 files")
def test_fifty_candidates_fused(benchmark, candidates):
    assert len(benchmark(Fused().values, QUERY, candidates)) == CANDIDATES


@pytest.mark.benchmark(group="the learned ranker, 50 candidates of 2,700 files")
def test_fifty_candidates_and_a_cross_encoder(benchmark, candidates, minilm_cross_encoder):
    fused, cross = Fused(), CrossEncoder(minilm_cross_encoder)

    def rank():
        best = ranking(fused.values(QUERY, candidates))[:BEST]
        return cross.values(QUERY, [candidates[place] for place in best])

    assert len(benchmark.pedantic(rank, rounds=10, warmup_rounds=1)) == BEST


@pytest.fixture(scope="module")
def minilm_cross_encoder(tmp_path_factory):
    """A cross-encoder of MiniLM's size; how it is trained makes no difference to its pace."""
    from firstpage.train.bases import fit_length, load_base
    from firstpage.train.config import PACKAGE
    from sentence_transformers import CrossEncoder as Model

    model = load_base(Model, "base", PACKAGE, num_labels=1)
    fit_length(model, 256)
    folder = tmp_path_factory.mktemp("cross-encoder")
    model.save_pretrained(str(folder), create_model_card=False)
    return folder


def embed(folder, commit):
    """The commit's files embedded; returns the peak memory in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", EMBED, folder, commit], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1])


@pytest.mark.benchmark(group="every file of 2,700 embedded, words and names indexed")
def test_embedding_from_nothing(benchmark, commits, cache):
    folder, first, _ = commits

    def forget():
        shutil.rmtree(cache, ignore_errors=True)

    benchmark.extra_info["peak_mib"] = benchmark.pedantic(embed, (folder, first), setup=forget, rounds=2)


@pytest.mark.benchmark(group="every file of 2,700 embedded, words and names indexed")
def test_embedding_the_next_commit(benchmark, commits, cache):
    folder, first, second = commits
    embed(folder, first)
    shutil.copytree(cache, cache.with_name("first"))

    def forget_the_second():
        shutil.rmtree(cache)
        shutil.copytree(cache.with_name("first"), cache)

    run = (folder, second)
    benchmark.extra_info["peak_mib"] = benchmark.pedantic(embed, run, setup=forget_the_second, rounds=5)
