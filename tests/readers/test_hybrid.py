import random

import numpy as np
import pytest
from firstpage.core.items import Item, Query
from firstpage.core.values import ValueFunction, evaluate, ranking
from firstpage.readers.hybrid import Hybrid, SignalFinder, Weights, weighted


def file(path, content="pass\n"):
    return Item(path, path, content, {"path": path})


def best(query, items, **weights):
    return items[int(ranking(evaluate(Hybrid(Weights(**weights)), Query(query), items))[0])].id


def test_it_is_a_value_function():
    assert isinstance(Hybrid(), ValueFunction)
    assert Hybrid.name == "hybrid"


def test_the_file_that_speaks_of_the_query_is_best():
    items = [file("a.py", "def load(): ..."), file("b.py", "the stale entries of the session are purged")]
    assert best("Stale entries are never purged", items) == "b.py"


def test_the_file_that_defines_a_name_comes_before_one_that_uses_it():
    items = [
        file("a.py", "purge_entries(store)\nstore.close()\n"),
        file("b.py", "def purge_entries(store):\n    store.close()\n"),
    ]
    assert best("purge_entries closes the store", items) == "b.py"


@pytest.mark.parametrize(
    "line",
    [
        "    async def purge(self):",
        "class purge(Base):",
        "func (s *Store) purge() {",
        "export default function purge() {",
        "pub fn purge() {",
        "public static class purge {",
    ],
)
def test_definitions_of_many_languages_are_seen(line):
    items = [file("a", line.replace("purge", "other") + " purge"), file("b", line + " other")]
    assert best("purge", items) == "b"


def test_the_path_counts():
    items = [file("pkg/query.py"), file("pkg/cache.py")]
    assert best("the cache is stale", items) == "pkg/cache.py"


def test_a_file_that_the_query_names_comes_before_its_namesake():
    items = [file("b/fields.py"), file("a/fields.py")]
    assert best("see src/a/fields.py", items) == "a/fields.py"


def test_the_innermost_frame_of_a_traceback_comes_first():
    items = [file("pkg/main.py"), file("pkg/cache.py")]
    text = 'It fails\n  File "/x/pkg/main.py", line 1, in f\n  File "/x/pkg/cache.py", line 2, in g\n'
    assert best(text, items) == "pkg/cache.py"


def test_a_test_comes_after_the_code_it_tests():
    items = [file("tests/test_cache.py", "cache stale purge"), file("pkg/cache.py", "cache stale")]
    assert best("purge the stale cache", items) == "pkg/cache.py"


def test_a_query_that_asks_for_tests_gets_them():
    items = [file("pkg/cache.py", "stale"), file("tests/test_cache.py", "cache stale purge test")]
    assert best("Add a test for the purge of the stale cache", items) == "tests/test_cache.py"


@pytest.mark.parametrize(
    ("weights", "query", "contents"),
    [
        ({"definitions": 0}, "purge", {"a.py": "purge purge", "b.py": "def purge(): ..."}),
        ({"path": 0}, "stale cache", {"pkg/query.py": "stale", "pkg/cache.py": ""}),
        ({"path": 0, "named": 0}, "stale\nsee b/x.py", {"a/x.py": "stale", "b/x.py": ""}),
        (
            {"path": 0, "named": 0, "frames": 0},
            'stale\nFile "b/x.py", line 1',
            {"a.py": "stale", "b/x.py": ""},
        ),
        ({"title": 0}, "stale\ncache", {"a.py": "cache cache", "b.py": "stale"}),
        ({"code": 4}, "stale\n```\ncache\n```", {"a.py": "cache", "b.py": "stale"}),
        (
            {"test": 1},
            "purge the stale cache",
            {"tests/x.py": "cache stale purge", "pkg/x.py": "cache stale"},
        ),
        ({"beside": 1}, "purge the stale cache", {"docs/x.py": "cache stale purge", "pkg/x.py": "stale"}),
        ({"k1": 0}, "stale cache", {"a.py": "stale cache", "b.py": "stale stale stale stale x"}),
    ],
)
def test_each_weight_counts(weights, query, contents):
    items = [file(path, content) for path, content in contents.items()]
    assert best(query, items, **weights) == items[0].id


def test_signals_are_found_once_and_weighed_with_any_weights():
    items = [
        file("tests/cache.py", "def stale(): cache"),
        file("pkg/cache.py", "stale"),
        file("docs/x.py", "cache"),
    ]
    query = Query("stale cache\nin prose cache.py\n```\ncache stale\n```")
    finder = SignalFinder(query, items)
    for weights in (Weights(), Weights(1.2, 1, 1, 1, 1, 0, 1, 1, 0), Weights(k1=0, title=5, code=0, test=0)):
        found = weighted(finder.signals(weights.k1, weights.title, weights.code), weights)
        assert found.tolist() == Hybrid(weights).values(query, items).tolist()


def test_items_without_path_or_content_are_judged_by_their_text():
    items = [Item("1", "connection refused"), Item("2", "the cache is stale")]
    values = evaluate(Hybrid(), Query("stale cache"), items)
    assert values[0] == 0
    assert values[1] > 0


def test_items_with_and_without_path_can_be_mixed():
    items = [Item("1", "stale"), file("pkg/stale.py", None), Item("3", "x", lambda: None)]
    assert evaluate(Hybrid(), Query("stale"), items).shape == (3,)


def test_no_items_have_no_values():
    assert Hybrid().values(Query("stale cache"), []).shape == (0,)


@pytest.mark.parametrize("text", ["", " \n ", "?!", "\ud800", "```", "<!-- a -->"])
def test_a_query_without_words_makes_everything_worthless(text):
    values = evaluate(Hybrid(), Query(text), [file("pkg/cache.py", "class Cache: ..."), Item("2", "x")])
    assert values.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("text", ["the and of", "\ud800 stale", "stale\0\0", "a" * 1000])
@pytest.mark.parametrize(
    "content", ["", "\0\1\2\xff" * 1000, "\ud800\udfff def \ud800stale():", "the " * 1000, None]
)
def test_values_are_finite_and_not_negative_whatever_the_text(text, content):
    items = [file("pkg/cache.py", content), file("\udcff/x\udc80.py", content), Item("3", "\ud800", content)]
    evaluate(Hybrid(), Query(text), items)


def test_equal_items_have_equal_values():
    items = [file("pkg/cache.py", "class Cache: stale = True")] * 1000
    values = evaluate(Hybrid(), Query("stale cache\nsee pkg/cache.py"), items)
    assert values[0] > 0
    assert np.unique(values).size == 1


def test_the_order_of_items_does_not_matter():
    items = [file(f"pkg/{name}.py", f"def {name}(): return stale") for name in ("cache", "query", "store")]
    query = Query("store returns stale\n`query` too")
    forth, back = Hybrid().values(query, items), Hybrid().values(query, items[::-1])
    assert forth == pytest.approx(back[::-1])


def test_a_long_query_and_long_files_have_finite_values():
    rng = random.Random(0)
    names = ["".join(rng.choices("abcdefghij_", k=rng.randint(3, 9))) for _ in range(2000)]
    items = [file(f"pkg/m{number}.py", " ".join(rng.choices(names, k=500))) for number in range(50)]
    values = evaluate(Hybrid(), Query(" ".join(rng.choices(names, k=20_000))[:100_000]), items)
    assert (values > 0).all()
