"""Keeps the further pages of results for a while, in bounded memory."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    thing: T
    size: int
    since: float


class Store(Generic[T]):
    """Things by ids that nobody can guess. The oldest go where there are too many, and all after some time.

    Args:
        seconds: that a thing stays.
        size: of all things together at the most.
        clock: tells the seconds.

    Example:
        >>> store = Store[str](seconds=60, size=100)
        >>> id = store.new_id()
        >>> store.put(id, "pages", 40), store.get(id), store.get("another")
        (True, 'pages', None)
    """

    def __init__(self, seconds: float, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._most, self._clock = seconds, size, clock
        self._kept: OrderedDict[str, _Kept[T]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._kept)

    @staticmethod
    def new_id() -> str:
        """An id for a thing; texts may name it before the thing is there."""
        return secrets.token_hex(8)

    def put(self, id: str, thing: T, size: int) -> bool:
        """Keeps a thing; False if it is too large even alone, and it is not kept then."""
        self.sweep()
        if size > self._most:
            return False
        while self.size + size > self._most:
            self._drop(next(iter(self._kept)))
        self._kept[id] = _Kept(thing, size, self._clock())
        self.size += size
        return True

    def get(self, id: str) -> T | None:
        """The thing of that id; None if there is none, or none any more."""
        self.sweep()
        kept = self._kept.get(id)
        return kept.thing if kept else None

    def sweep(self) -> None:
        """Drops what has stayed long enough."""
        until = self._clock() - self._seconds
        while self._kept and next(iter(self._kept.values())).since <= until:
            self._drop(next(iter(self._kept)))

    def _drop(self, id: str) -> None:
        self.size -= self._kept.pop(id).size
