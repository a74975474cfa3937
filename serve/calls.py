"""Value functions as an engine runs them: one call a request, in a thread."""

from collections.abc import Callable, Sequence
from typing import Any

from .queueing import Unit

Call = tuple[Callable[[], Any], int]  # and how long it is, in tokens


class Calls:
    """Work that is no batch: each unit is a function without arguments.

    Args:
        name: of what is called.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def encode(self, inputs: Sequence[Call]) -> list[Unit]:
        """One unit a call."""
        return [Unit(call, max(1, length)) for call, length in inputs]

    def run(self, works: Sequence[Callable[[], Any]]) -> list[Any]:
        """What the calls return."""
        return [call() for call in works]
