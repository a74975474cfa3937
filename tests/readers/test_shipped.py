"""The weights that come with the package, as a user has them."""

import subprocess
import sys

import numpy as np
import pytest
from firstpage.core.items import Item, Query
from firstpage.core.values import evaluate
from firstpage.readers import DEFAULT, shipped, value_functions
from firstpage.readers.fused import TREES, Fused, features
from firstpage.readers.static_encoder import StaticEncoder
from firstpage.readers.trees import load_trees

MOST_BYTES = 30_000_000
CART = "class Cart:\n    def add_item(self, item): ...\n    def total_price(self): ...\n"
ITEMS = [
    Item(path, path, content, {"path": path})
    for path, content in {
        "shop/views.py": "from shop.cart import Cart\n\ndef show(request): ...\n",
        "shop/cart.py": CART,
        "tests/test_cart.py": "from shop.cart import Cart\n\ndef test_total_price(): ...\n",
        "docs/conf.py": "project = 'shop'\n",
    }.items()
]


@pytest.fixture
def firstpage_without():
    """Runs Python in a process that cannot import one module."""

    def run(module: str, code: str, *arguments: str, answer: str = ""):
        hide = f"import sys\nsys.modules[{module!r}] = None\n"
        return subprocess.run(
            [sys.executable, "-c", hide + code, *arguments], input=answer, capture_output=True, text=True
        )

    return run


def test_they_are_small_and_nothing_in_them_is_pickled():
    files = [path for path in shipped.FUSED.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    assert {path.suffix for path in files} == {".json", ".safetensors", ".md"}


def test_they_are_read_and_belong_together():
    assert StaticEncoder(shipped.ENCODER).dimensions > 0
    known = features(Query("x"), ITEMS, shipped.ENCODER)
    for name in TREES.values():
        assert set(load_trees(shipped.FUSED / name).columns) <= set(known)


def test_the_default_puts_first_what_an_issue_is_about():
    assert DEFAULT == "fused"
    values = evaluate(
        Fused(), Query("Cart.total_price is wrong\n\nAfter `add_item` the price stays 0."), ITEMS
    )
    assert ITEMS[int(values.argmax())].id == "shop/cart.py"
    near = evaluate(
        value_functions.create("bi-encoder"), Query("the shopping cart shows a wrong price"), ITEMS
    )
    assert ITEMS[int(near.argmax())].id in ("shop/cart.py", "tests/test_cart.py")


@pytest.mark.parametrize("text", ["", "   \n", "x" * 100_000, "Cart total_price " * 6_000, "\udcff\x00"])
def test_any_query_has_finite_values(text):
    assert np.isfinite(evaluate(Fused(), Query(text), ITEMS)).all()


@pytest.mark.parametrize(
    "content",
    ["", "x=1;" * 2_500_000, "\n" * 1_000_000, "def f(): pass\n" * 70_000, "(" * 200_000, "\x00\xff" * 1000],
    ids=["empty", "minified, 10 MB", "blank", "long", "nested", "binary"],
)
def test_any_file_has_a_finite_value(content):
    items = [*ITEMS, Item("big.py", "big.py", content, {"path": "big.py"})]
    assert np.isfinite(evaluate(Fused(), Query("Cart.total_price"), items)).all()


def test_without_the_extra_the_default_is_hybrid_and_the_ranker_says_what_to_install(firstpage_without):
    done = firstpage_without("safetensors", "from firstpage.readers import DEFAULT; print(DEFAULT)")
    assert done.stdout == "hybrid\n"
    call = "from firstpage.scripts.cli import main; main()"
    done = firstpage_without("safetensors", call, "select", "-q", "x", answer="a.py\nb.py\n")
    assert (done.returncode, done.stderr) == (0, "")
    done = firstpage_without("safetensors", call, "select", "-q", "x", "-f", "fused", answer="a.py\nb.py\n")
    assert done.returncode == 1
    assert (
        done.stderr
        == "firstpage: the learned ranker needs an optional part: pip install 'firstpage[learned]'\n"
    )
