"""The unit of a tool answer and the question it is judged by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Content = str | Callable[[], str | None] | None


@dataclass(frozen=True, slots=True)
class Query:
    """What the agent wants to know.

    Args:
        text: the question, issue or goal, in any length; its first line is read as a title.
    """

    text: str

    @property
    def title(self) -> str:
        """The first line that is not blank."""
        return next((line.strip() for line in self.text.split("\n") if line.strip()), "")


class Item:
    """One unit of a tool answer; it is delivered whole or not at all.

    Args:
        id: unique within one answer.
        text: what the agent would see of it; its tokens are its cost.
        content: what may be scored beyond the text, such as a file's body: a string, or a function that
            is called once, at first use, and returns a string or None.
        metadata: what a parser or candidate generator knows of it. Known keys: ``path`` (of the file it
            stands for), ``line`` (first line number), ``within`` (texts that must precede it on a page,
            outermost first, such as the file header of a diff's hunk), ``gap`` (the lines that part it from
            the item before).

    Example:
        >>> item = Item("1", "django/db/models/query.py", content=lambda: "class QuerySet: ...")
        >>> item.content
        'class QuerySet: ...'
    """

    __slots__ = ("_content", "id", "metadata", "text")

    def __init__(
        self, id: str, text: str, content: Content = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        self.id = id
        self.text = text
        self._content = content
        self.metadata: Mapping[str, Any] = metadata if metadata is not None else {}

    @property
    def content(self) -> str | None:
        """What may be scored beyond the text, loaded at first use; None where there is none."""
        if callable(self._content):
            self._content = self._content()
        return self._content

    @property
    def path(self) -> str | None:
        """The file that the item stands for, where it stands for one."""
        return self.metadata.get("path")

    def with_content(self, content: Content) -> "Item":
        """The same item with another content."""
        return Item(self.id, self.text, content, self.metadata)

    def __repr__(self) -> str:
        return f"Item({self.id!r}, {self.text[:60]!r})"
