"""The Python modules that a text imports or names with dots, and the files that they are."""

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

_DOTTED = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b")
_FROM = re.compile(r"^[ \t>.]*from[ \t]+([A-Za-z_][\w.]*)[ \t]+import[ \t]+\(?([\w, \t]+)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t>.]*import[ \t]+([A-Za-z_][\w., \t]*)", re.MULTILINE)
_ENDING = re.compile(r"(?:/__init__)?\.(?:py|pyx|pyi)$")
_ROOTS = ("src/", "lib/", "Lib/")

Defines = Callable[[str], NDArray[np.intp]]


class ModuleFinder:
    """Finds the files whose modules a text names.

    A package stands for those of its modules that define what is asked of it, since its ``__init__`` mostly
    hands on what they define.

    Args:
        paths: of the files.
        defines: positions of the files that define a name.

    Example:
        >>> paths = ["src/shop/__init__.py", "src/shop/cart.py", "src/shop/order.py"]
        >>> finder = ModuleFinder(paths, lambda name: np.array([1] if name == "Cart" else [], np.intp))
        >>> finder.named("shop.Cart fails"), finder.imported("from shop import Cart, order")
        (array([0.5, 1. , 0. ]), array([0.5, 1. , 1. ]))
    """

    def __init__(self, paths: Sequence[str], defines: Defines) -> None:
        self._paths = paths
        self._defines = defines
        self._modules = {_module(path): place for place, path in enumerate(paths) if _ENDING.search(path)}

    def named(self, text: str) -> NDArray[np.float64]:
        """What dotted names say, such as ``django.db.models.query.QuerySet``.

        Returns:
            Shape ``(len(paths),)``: 1 for the module that a name ends in, or in something that it defines;
            1/2 for one that does not define what follows it; shares of 1 within a package.
        """
        values = np.zeros(len(self._paths))
        for name in dict.fromkeys(_DOTTED.findall(text)):
            self._name(name.split("."), values)
        return values

    def imported(self, text: str) -> NDArray[np.float64]:
        """What import statements say, as `named` does."""
        values = np.zeros(len(self._paths))
        for module, names in _FROM.findall(text):
            for name in re.findall(r"\w+", names) or [""]:
                self._name([*module.split("."), name], values)
        for modules in _IMPORT.findall(text):
            for module in modules.split(","):
                self._name(module.split()[0].split(".") if module.split() else [], values)
        return values

    def _name(self, parts: Sequence[str], values: NDArray[np.float64]) -> None:
        for length in range(len(parts), 0, -1):
            place = self._modules.get(".".join(parts[:length]))
            if place is not None:
                break
        else:
            return
        asked = parts[length] if length < len(parts) else ""
        definers = self._defines(asked) if asked else np.zeros(0, np.intp)
        values[place] = max(values[place], 1.0 if not asked or place in definers else 0.5)
        folder, _, name = self._paths[place].rpartition("/")
        if asked and name.startswith("__init__."):
            inside = [one for one in definers.tolist() if self._paths[one].startswith(folder + "/")]
            values[inside] = np.maximum(values[inside], 1 / max(1, len(inside)))


def _module(path: str) -> str:
    for root in _ROOTS:
        path = path.removeprefix(root)
    return _ENDING.sub("", path).replace("/", ".")
