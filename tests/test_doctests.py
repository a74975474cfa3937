import doctest
import importlib
import pkgutil

import pytest

MODULES = sorted(
    module.name
    for folder in ("core", "readers", "train", "serve", "eval", "scripts")
    for module in pkgutil.walk_packages(
        importlib.import_module(f"firstpage.{folder}").__path__, f"firstpage.{folder}."
    )
    if not module.ispkg or module.name == "firstpage.core.formats"
)


@pytest.mark.parametrize("name", [*MODULES, "firstpage.readers"])
def test_the_examples_of_the_documentation_are_true(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_modules_were_found():
    assert len(MODULES) > 40
    assert "firstpage.core.items" in MODULES
