"""The one way in which what holds a process or a file gives it back."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """Something that is closed at the end of a ``with`` block; a subclass says how.

    Example:
        >>> class Door(Closing):
        ...     def close(self) -> None:
        ...         print("closed")
        >>> with Door():
        ...     print("inside")
        inside
        closed
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Gives back what is held; twice does no harm."""
