import json
import shutil
import time

import numpy as np
import pytest
from firstpage.core.errors import InputError
from firstpage.core.git import GitStore
from firstpage.core.items import Item, Query
from firstpage.core.values import evaluate
from firstpage.readers import fused, value_functions
from firstpage.readers.blob_index import BlobIndex
from firstpage.readers.candidates import candidate_items
from firstpage.readers.fused import Fused, _trees, features
from firstpage.readers.hybrid import Hybrid
from firstpage.readers.sources import PYTHON
from firstpage.readers.trees import as_json


@pytest.fixture
def folder(tmp_path, encoder_folder):
    """Of trees that ask whether a file defines much of what the query names, then how near its chunks are."""

    def asking(column, threshold, low, high):
        return {
            "split_feature": column, "threshold": threshold,
            "left_child": {"leaf_value": low}, "right_child": {"leaf_value": high},
        }  # fmt: skip

    made = tmp_path / "ranker"
    shutil.copytree(encoder_folder, made / "encoder")
    trees = [asking(0, 0.5, 0.0, 2.0), asking(1, 0.3, 0.0, 1.0)]
    for name in ("commit.json", "answer.json"):
        (made / name).write_text(as_json(["defines/best", "chunk whole"], trees))
    return made


def item(path, content):
    return Item(path, path, content, {"path": path})


FILES = {
    "app/views.py": "def index_view(): ...\n",
    "app/cache.py": "class CacheStore:\n    def clear(self): ...\n",
}
ITEMS = [item(path, content) for path, content in FILES.items()]


def test_trees_decide(folder):
    values = evaluate(Fused(folder), Query("CacheStore is stale"), ITEMS)
    assert values[1] > values[0]
    assert ((values > 0) & (values < 1)).all()


def test_items_of_a_commit_are_ranked_by_what_its_corpus_says(repository, folder):
    repository.commit("first", FILES)
    with GitStore(repository.folder) as store, BlobIndex(store) as index:
        items = candidate_items(index.corpus("HEAD", PYTHON), [0, 1])
        values = evaluate(Fused(folder), Query("CacheStore is stale"), items)
        assert values[0] > values[1]


def test_files_of_a_commit_and_of_an_answer_have_trees_of_their_own(repository, folder):
    answer = json.loads((folder / "answer.json").read_text())
    for tree in answer["trees"]:
        tree["value"] = [-value for value in tree["value"]]
    (folder / "answer.json").write_text(json.dumps(answer))
    _trees.cache_clear()
    repository.commit("first", FILES)
    query = Query("CacheStore is stale")
    with GitStore(repository.folder) as store, BlobIndex(store) as index:
        of_commit = evaluate(Fused(folder), query, candidate_items(index.corpus("HEAD", PYTHON), [0, 1]))
    of_answer = evaluate(Fused(folder), query, ITEMS)
    assert of_commit[0] > of_commit[1]  # the cache, then the views
    assert of_answer[0] > of_answer[1]  # the views, which come first here


def test_columns_of_an_answer_are_those_of_the_same_files_of_a_commit_but_for_history(
    repository, encoder_folder
):
    repository.commit("first", FILES)
    query = Query("CacheStore is stale")
    with GitStore(repository.folder) as store, BlobIndex(store) as index:
        items = candidate_items(index.corpus("HEAD", PYTHON), [0, 1])
        of_commit = features(query, items, encoder_folder)
    of_answer = features(query, [item(one.id, one.content) for one in items], encoder_folder)
    assert list(of_answer) == list(of_commit)
    for name in ("content", "defines", "path", "test"):
        np.testing.assert_allclose(of_answer[name], of_commit[name])
    np.testing.assert_allclose(of_answer["chunk whole"], of_commit["chunk whole"], atol=1e-6)


def test_items_that_stand_for_no_file_are_ranked_by_hybrid(folder):
    items = [Item("1", "cache miss"), Item("2", "view shown"), *ITEMS]
    query = Query("view")
    np.testing.assert_array_equal(Fused(folder).values(query, items), Hybrid().values(query, items))


def test_of_very_many_items_the_best_by_hybrid_are_judged_and_the_others_follow(folder, monkeypatch):
    monkeypatch.setattr(fused, "MOST", 2)
    query = Query("the CacheStore cache and its store are stale")
    items = [item(f"app/part_{n}.py", "cache store\n" * n) for n in range(5)] + ITEMS
    values, first = evaluate(Fused(folder), query, items), Hybrid().values(query, items)
    best = np.argsort(-first, kind="stable")[:2]
    assert values[best] == pytest.approx(evaluate(Fused(folder), query, [items[place] for place in best]))
    others = [place for place in np.argsort(-first, kind="stable") if place not in best]
    assert values[others[0]] < values[best].min()
    assert [place for place in np.argsort(-values, kind="stable") if place not in best] == others
    monkeypatch.setattr(fused, "MOST", 7)
    assert evaluate(Fused(folder), query, items).shape == (7,)


def rewrite(folder, **kept):
    for name in ("commit.json", "answer.json"):
        file = folder / name
        file.write_text(json.dumps({**json.loads(file.read_text()), **kept}))


def test_neural_columns_are_worked_out_only_where_a_tree_asks_for_them(folder):
    shutil.rmtree(folder / "encoder")
    with pytest.raises(InputError, match="encoder"):
        evaluate(Fused(folder), Query("CacheStore"), ITEMS)
    rewrite(folder, columns=["defines/best", "content"])
    _trees.cache_clear()
    values = evaluate(Fused(folder), Query("CacheStore"), ITEMS)
    assert values[1] > values[0]


def test_trees_that_ask_for_an_unknown_column_are_refused(folder):
    rewrite(folder, columns=["astrology", "content"])
    with pytest.raises(InputError, match="astrology"):
        evaluate(Fused(folder), Query("CacheStore"), ITEMS)


def test_it_is_asked_for_by_its_folder(folder):
    assert isinstance(value_functions.create(f"fused@{folder}"), Fused)
    with pytest.raises(InputError, match=r"'fused' needs its weights: .*fused@FOLDER"):
        value_functions.create("fused@")
    with pytest.raises(InputError, match="nowhere"):
        value_functions.create("fused@nowhere")


@pytest.mark.parametrize("text", ["", "x" * 100_000, "```\n" * 5_000, "\x00\ud800"])
def test_any_query_has_values(folder, text):
    assert evaluate(Fused(folder), Query(text), ITEMS).shape == (2,)


def test_a_generated_file_of_ten_megabytes_does_not_hold_up_the_rest(folder):
    started = time.monotonic()
    items = [*ITEMS, item("app/table.py", "T = [\n" + "    1234,\n" * 1_000_000 + "]\n")]
    values = evaluate(Fused(folder), Query("CacheStore"), items)
    assert values[1] == values.max()
    assert time.monotonic() - started < 60  # not a measurement: it must end
