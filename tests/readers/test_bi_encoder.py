import numpy as np
import pytest
from firstpage.core.items import Item, Query
from firstpage.core.values import evaluate
from firstpage.readers import bi_encoder
from firstpage.readers.bi_encoder import COLUMNS, BiEncoder, Similarities
from firstpage.readers.static_encoder import StaticEncoder

CACHE = Item(
    "1", "app/cache.py", "class Store:\n    def clear_entries(self): ...\n", {"path": "app/cache.py"}
)
VIEW = Item("2", "app/views.py", "def index_view(): ...\n", {"path": "app/views.py"})


def test_what_means_the_same_is_worth_more(encoder_folder):
    values = evaluate(BiEncoder(encoder_folder), Query("clear stale entries of the store"), [VIEW, CACHE])
    assert values[1] > values[0]


def test_columns_are_cosines_of_each_part_with_outline_and_chunks(encoder_folder):
    found = Similarities(encoder_folder).columns(Query("index view\n\nstale cache"), [VIEW, CACHE])
    assert found.shape == (2, len(COLUMNS))
    assert np.abs(found).max() <= 1 + 1e-6
    title = COLUMNS.index("chunk title")
    assert found[0, title] > found[1, title]


@pytest.mark.parametrize("text", ["", "   \n", "x" * 100_000, "stale cache " * 20_000])
def test_any_query_has_finite_values(encoder_folder, text):
    assert np.isfinite(evaluate(BiEncoder(encoder_folder), Query(text), [CACHE, VIEW])).all()


def test_an_empty_item_has_a_value(encoder_folder):
    assert evaluate(BiEncoder(encoder_folder), Query("cache"), [Item("1", "")]).shape == (1,)


def test_no_items_have_no_columns(encoder_folder):
    assert Similarities(encoder_folder).columns(Query("cache"), []).shape == (0, len(COLUMNS))


def test_a_blob_is_embedded_once_even_by_a_later_process(encoder_folder, monkeypatch):
    items = [item.with_content(item.content) for item in (CACHE, VIEW)]
    for item in items:
        item.metadata = {**item.metadata, "blob": item.id * 40}
    first = Similarities(encoder_folder).columns(Query("stale cache"), items)
    encoded = []
    encode = StaticEncoder.encode
    monkeypatch.setattr(
        StaticEncoder, "encode", lambda self, texts: encoded.extend(texts) or encode(self, texts)
    )
    again = Similarities(encoder_folder).columns(Query("stale cache"), items)
    assert len(encoded) == 4  # the parts of the query alone
    np.testing.assert_allclose(again, first, atol=1e-6)


def test_items_without_a_blob_open_no_cache(encoder_folder, tmp_path):
    Similarities(encoder_folder).columns(Query("stale cache"), [CACHE, VIEW])
    assert not (tmp_path / "cache").exists()


def test_more_items_than_fit_in_memory_at_once_have_the_same_columns(encoder_folder, monkeypatch):
    items = [Item(str(n), f"cache {n}\n" * (1 + n % 3), None, {"path": f"app/m{n}.py"}) for n in range(7)]
    whole = Similarities(encoder_folder).columns(Query("stale cache"), items)
    monkeypatch.setattr(bi_encoder, "_BATCH", 3)
    assert (Similarities(encoder_folder).columns(Query("stale cache"), items) == whole).all()
