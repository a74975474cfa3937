"""How long selection takes. Run: ``pytest tests/benchmarks --benchmark-only``.

Aims, on two cores: 10,000 items by the keyword function in 30 ms, 50 items at 8,000 tokens exactly in 5 ms.
"""

import numpy as np
import pytest
from firstpage.core.costs import row_cost
from firstpage.core.items import Item, Query
from firstpage.core.selection import select, select_exact
from firstpage.readers.keyword import PriorityKw

WORDS = [
    "cache",
    "query",
    "set",
    "base",
    "model",
    "view",
    "admin",
    "forms",
    "core",
    "utils",
    "tests",
    "router",
]
QUERY = Query(
    "QuerySet.delete() leaves a stale cache behind when the router of the admin picks a backend. " * 20
)


@pytest.fixture
def items() -> list[Item]:
    """Paths of five parts, such as a large repository has."""
    random = np.random.default_rng(0)
    parts = random.choice(WORDS, size=(10_000, 5)).tolist()
    paths = [f"{'/'.join(some[:3])}/{some[3]}_{some[4]}{place}.py" for place, some in enumerate(parts)]
    return [Item(path, path, metadata={"path": path}) for path in paths]


def test_ten_thousand_items_by_keyword(benchmark, items: list[Item]) -> None:
    costs = np.array([row_cost(item.text) for item in items])
    chosen = benchmark(lambda: select(PriorityKw().values(QUERY, items), costs, 8000))
    assert 0 < costs[chosen].sum() <= 8000


def test_fifty_items_at_eight_thousand_tokens_exactly(benchmark) -> None:
    random = np.random.default_rng(0)
    values, costs = random.random(50), random.integers(100, 1000, 50)
    chosen = benchmark(select_exact, values, costs, 8000)
    assert 0 < costs[chosen].sum() <= 8000
