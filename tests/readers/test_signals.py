import numpy as np
import pytest
from firstpage.core.git import GitStore
from firstpage.core.items import Query
from firstpage.readers.blob_index import BlobIndex
from firstpage.readers.corpus import corpus_of
from firstpage.readers.signals import named_files, signals
from firstpage.readers.sources import PYTHON
from hypothesis import given
from hypothesis import strategies as st

FILES = {
    "shop/__init__.py": "from .cart import Cart",
    "shop/cart.py": (
        "LIMIT = 5\n\n\nclass Cart:\n    def add_item(self, item):\n        self.items.append(item)\n"
    ),
    "shop/order.py": "from shop.cart import Cart\n\n\ndef place_order(cart): ...\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_add_item():\n    Cart().add_item(1)\n",
}
ISSUE = """Adding an item twice loses it

```python
from shop import Cart
Cart().add_item(1)
```

Traceback (most recent call last):
  File "/site-packages/shop/cart.py", line 6, in add_item
"""


@pytest.fixture
def corpus(repository):
    commit = repository.commit("Adding an item keeps the others", FILES)
    with GitStore(repository.folder) as store, BlobIndex(store) as index:
        made = index.corpus(commit, PYTHON)
        _ = made.history
        yield made


def best(columns, name, corpus):
    return corpus.paths[int(np.argmax(columns[name]))]


@pytest.mark.parametrize(
    "name",
    ["hybrid", "frames", "defines", "defines alone", "defines class", "defines method", "defines frame",
     "defines called", "imported"],
)  # fmt: skip
def test_each_signal_points_at_the_file_that_it_is_about(corpus, name):
    assert best(signals(Query(ISSUE), corpus), name, corpus) == "shop/cart.py"


def test_a_constant_that_is_named_points_at_who_sets_it(corpus):
    assert best(signals(Query("LIMIT is too low"), corpus), "defines constant", corpus) == "shop/cart.py"


def test_dotted_names_are_resolved(corpus):
    columns = signals(Query("shop.order.place_order fails"), corpus)
    assert best(columns, "dotted", corpus) == "shop/order.py"


def test_tests_are_told_apart_and_define_nothing_alone(corpus):
    columns = signals(Query(ISSUE), corpus)
    assert columns["is test"].tolist() == [0, 0, 0, 1]
    assert named_files(Query("test_add_item"), corpus)[:3].tolist() == [0, 0, 0]


def test_best_columns_are_parts_of_the_best(corpus):
    columns = signals(Query(ISSUE), corpus)
    assert columns["content/best"].max() == 1
    np.testing.assert_allclose(
        columns["content/best"] * columns["content"].max(), columns["content"], rtol=1e-12
    )


def test_an_answer_has_the_same_columns_as_a_commit(corpus):
    answer = corpus_of(list(FILES), list(FILES.values()))
    of_answer, of_commit = signals(Query(ISSUE), answer), signals(Query(ISSUE), corpus)
    assert list(of_answer) == list(of_commit)
    for name in of_commit:
        if "vote" not in name and "change" not in name and name != "years since":
            np.testing.assert_allclose(of_answer[name], of_commit[name], err_msg=name)


@given(st.text(max_size=300), st.lists(st.tuples(st.text(max_size=20), st.text(max_size=80)), max_size=4))
def test_any_query_and_any_texts_give_finite_columns_in_one_order(query, texts):
    answer = corpus_of([path for path, _ in texts], [text for _, text in texts])
    columns = signals(Query(query), answer)
    assert list(columns) == list(signals(Query("x"), corpus_of([], [])))
    for values in columns.values():
        assert values.shape == (len(texts),)
        assert np.isfinite(values).all()


def test_a_query_of_100_000_characters_is_read(corpus):
    columns = signals(Query("Cart " * 20_000), corpus)
    assert best(columns, "defines", corpus) == "shop/cart.py"
