"""Names for what can be plugged in: firstpage's own by table, everybody else's by entry points.

firstpage's own stand in a table of import paths, because reading the metadata of all installed packages
takes longer than the whole of ``firstpage select``; entry points are read only for a name that is not in
the table, and to list all names.
"""

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from .errors import InputError, RunError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Registry(Generic[T]):
    """Makes a thing of one kind from its name.

    Args:
        group: entry point group of third parties, such as ``firstpage.value_functions``. What an entry
            point names is called without arguments and returns the thing.
        kind: what is registered, for messages: ``value function``.
        built_in: name to ``module:attribute``.
        trained: the same of things that are made of a folder of weights, asked for as ``NAME@FOLDER``; those
            that are in ``built_in`` too come with weights of their own.
        unlisted: names that `names` leaves out, as what they need is not installed; asked for all the same,
            they say what it is.
    """

    def __init__(
        self,
        group: str,
        kind: str,
        built_in: Mapping[str, str],
        trained: Mapping[str, str] | None = None,
        unlisted: Collection[str] = (),
    ) -> None:
        self.group, self.kind = group, kind
        self._built_in = built_in
        self._trained = trained or {}
        self._unlisted = unlisted

    def names(self) -> list[str]:
        """All names: firstpage's own in their order, then those of installed packages by name."""
        others = {point.name for point in self._entry_points()} - set(self._built_in)
        return [*(name for name in self._built_in if name not in self._unlisted), *sorted(others)]

    def create(self, name: str) -> T:
        """The thing of that name.

        Raises:
            InputError: nothing has that name, and the nearest is suggested; or weights are not named, or
                cannot be used.
            RunError: the package that brings it cannot be loaded.
        """
        kind, _, folder = name.partition("@")
        if name in self._built_in:
            return cast("Callable[[], T]", _attribute(self._built_in[name]))()
        if kind in self._trained:
            if not folder:
                raise InputError(
                    f"the {self.kind} '{kind}' needs its weights: name their folder, as in {kind}@FOLDER"
                )
            return cast("Callable[[Path], T]", _attribute(self._trained[kind]))(Path(folder))
        for point in self._entry_points():
            if point.name == name:
                return self._load(point)
        raise InputError(f"there is no {self.kind} '{name}'; {self._suggestion(name)}")

    def origin(self, name: str) -> str:
        """The distribution that brings the name."""
        if name in self._built_in:
            return "firstpage"
        found = next((point.dist for point in self._entry_points() if point.name == name), None)
        return found.name if found else "unknown"

    def _load(self, point: "EntryPoint") -> T:
        try:
            return cast("Callable[[], T]", point.load())()
        except Exception as error:  # a third party's code may raise anything
            raise RunError(
                f"the {self.kind} '{point.name}' of the package "
                f"'{point.dist.name if point.dist else point.value}' cannot be loaded: {error}"
            ) from error

    def _entry_points(self) -> "list[EntryPoint]":
        from importlib.metadata import entry_points

        return sorted(entry_points(group=self.group), key=lambda point: (point.name, point.value))

    def _suggestion(self, name: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(name.lower(), self.names(), n=1)
        return f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.names())}"


def _attribute(place: str) -> object:
    """What ``module:attribute`` names."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)
