"""How long the default value function takes, on long queries and on many paths.

Aims, on two cores: a query of 100,000 characters in 1 s, 200,000 paths in 5 s.
"""

import random

import numpy as np
import pytest
from firstpage.core.items import Item, Query
from firstpage.readers.hybrid import Hybrid
from firstpage.readers.mentions import PathFinder, name_weights, term_weights

LONG = 100_000
PARTS = ["a", "a/", "a.", "`", "<!--", " ", "\n", "# \n", 'File "', ">", "x.py:1:\n", "\\"]


@pytest.mark.benchmark(group="a query of 100,000 characters")
@pytest.mark.parametrize("part", PARTS, ids=[part.encode("unicode_escape").decode() for part in PARTS])
def test_reading_it(benchmark, part):
    query = Query(part * (LONG // len(part)))
    finder = PathFinder([f"pkg/folder{number}/__init__.py" for number in range(1000)])

    def read():
        return term_weights(query), name_weights(query), finder.named(query.text), finder.frames(query.text)

    benchmark.pedantic(read, rounds=3)


@pytest.mark.benchmark(group="a query of 100,000 characters")
def test_fifty_files(benchmark):
    rng = random.Random(0)
    names = ["".join(rng.choices("abcdefghij_", k=rng.randint(3, 9))) for _ in range(20_000)]
    bodies = [" ".join(rng.choices(names, k=500)) for _ in range(50)]
    items = [Item(str(place), "", body, {"path": f"pkg/m{place}.py"}) for place, body in enumerate(bodies)]
    query = Query(" ".join(rng.choices(names, k=20_000))[:LONG])
    values = benchmark.pedantic(Hybrid().values, (query, items), rounds=5)
    assert np.isfinite(values).all()


@pytest.mark.benchmark(group="200,000 paths")
def test_two_hundred_thousand_paths(benchmark):
    rng = random.Random(0)
    parts = ["cache", "query", "base", "model", "view", "admin", "core", "tests", "router", "HttpServer"]
    paths = [f"{'/'.join(rng.choices(parts, k=4))}_{number}.py" for number in range(200_000)]
    items = [Item(path, path, metadata={"path": path}) for path in paths]
    query = Query("The router leaves a stale cache behind, see core/cache_7.py\n" * 20)
    values = benchmark.pedantic(Hybrid().values, (query, items), rounds=3)
    assert np.isfinite(values).all()
