import numpy as np
import pytest
from firstpage.readers.modules import ModuleFinder

PATHS = [
    "src/shop/__init__.py",
    "src/shop/cart.py",
    "src/shop/order/__init__.py",
    "src/shop/order/lines.py",
    "a.md",
]
DEFINES = {"Cart": [1], "Line": [3], "Twice": [1, 3]}
FINDER = ModuleFinder(PATHS, lambda name: np.array(DEFINES.get(name, []), dtype=np.intp))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shop.cart.Cart", [0, 1, 0, 0, 0]),
        ("shop.cart.nothing_there", [0, 0.5, 0, 0, 0]),
        ("shop.Cart", [0.5, 1, 0, 0, 0]),
        ("shop.order.Line.total", [0, 0, 0.5, 1, 0]),
        ("shop.Twice", [0.5, 0.5, 0, 0.5, 0]),
        ("other.cart.Cart", [0, 0, 0, 0, 0]),
        ("e.g. this", [0, 0, 0, 0, 0]),
        ("", [0, 0, 0, 0, 0]),
    ],
)
def test_dotted_names(text, expected):
    assert FINDER.named(text).tolist() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from shop.cart import Cart", [0, 1, 0, 0, 0]),
        (">>> from shop import Cart, order", [0.5, 1, 1, 0, 0]),
        ("import shop.cart as c", [0, 1, 0, 0, 0]),
        ("import os, shop.order", [0, 0, 1, 0, 0]),
        ("from shop.cart import (Cart,", [0, 1, 0, 0, 0]),
        ("from . import x", [0, 0, 0, 0, 0]),
        ("we import from shop", [0, 0, 0, 0, 0]),
    ],
)
def test_import_statements(text, expected):
    assert FINDER.imported(text).tolist() == expected
