"""The tool and the resources through which further pages are had."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.errors import InputError
from ...core.pages import Page, Pages
from .store import Store

SCHEME = "firstpage://"


class NoResourceError(InputError):
    """There is no such resource; the text says why."""


def description(name: str, minutes: float) -> dict[str, Any]:
    """The tool as a list of tools has it.

    Args:
        name: of it.
        minutes: that pages stay.
    """
    return {
        "name": name,
        "title": "Further page of a tool's result",
        "description": (
            "Gives a further page of an earlier tool result that was too long for one page. The last line of "
            "that result says how to call this. Call it only if what you look for is not on the first page: "
            f"that holds the best matches. Pages stay for {minutes:g} minutes."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "As the last line of the result has it."},
                "page": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Number of the page; 2 if not given.",
                },
                "item": {
                    "type": "string",
                    "description": "Instead of a page: an item that no page can hold.",
                },
            },
            "required": ["id"],
        },
        "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
    }


class PageTool:
    """Answers calls of the tool and reads of the resources.

    Args:
        store: of the pages.
        minutes: that they stay, for messages.
    """

    def __init__(self, store: Store[Pages], minutes: float) -> None:
        self._store, self._minutes = store, minutes

    def called(self, arguments: Any) -> dict[str, Any]:
        """The result of a call; of a wrong one it says what is wrong, so that an agent reads it."""
        try:
            asked = arguments if isinstance(arguments, dict) else {}
            result: dict[str, Any] = json.loads(self._page(asked.get("id"), *_what(asked)).text)
        except InputError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
        return result

    def read(self, uri: str) -> list[dict[str, Any]]:
        """The contents of a resource.

        Raises:
            NoResourceError: there is none, or none any more.
        """
        id, _, rest = uri.removeprefix(SCHEME).partition("/")
        what, _, number = rest.partition("/")
        try:
            page = self._page(
                id, *_what({what: int(number) if number.isdecimal() and what == "page" else number})
            )
        except InputError as error:
            raise NoResourceError(f"the resource '{uri}' cannot be read: {error}") from error
        return _contents(uri, json.loads(page.text)["content"])

    def _page(self, id: Any, what: str, number: Any) -> Page:
        pages = self._store.get(id) if isinstance(id, str) else None
        if pages is None:
            raise InputError(
                f"there are no pages with the id '{id}', or none any more, as they stay for "
                f"{self._minutes:g} minutes; call the tool itself again"
            )
        return pages.page(number) if what == "page" else pages.item(number)


def _what(asked: Mapping[str, Any]) -> tuple[str, Any]:
    """What is asked for: a page with its number, or an item with its id."""
    if (item := asked.get("item")) is not None:
        return "item", str(item)
    page = asked.get("page", 2)
    if isinstance(page, float) and page.is_integer():  # some clients know no other numbers
        page = int(page)
    if type(page) is not int:
        raise InputError(
            f"page: must be a whole number, not {page!r}; give the one in the last line of the result"
        )
    return "page", page


def _contents(uri: str, blocks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The blocks of a result as contents of a resource."""
    contents: list[dict[str, Any]] = []
    for block in blocks:
        if isinstance(block.get("resource"), dict):
            contents.append(dict(block["resource"]))
        elif isinstance(block.get("text"), str):
            contents.append({"uri": uri, "mimeType": "text/plain", "text": block["text"]})
        else:
            contents.append({"uri": uri, "mimeType": "application/json", "text": json.dumps(block)})
    return contents
