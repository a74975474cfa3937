"""What the proxy learns of the server's tools from the lists that pass by."""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, count
from typing import Any

PAGE_TOOL = "firstpage_page"

Fits = Callable[[Any], bool]


class Catalog:
    """The server's tools, as far as the client has had them listed.

    Attributes:
        page_tool: the name of the tool for further pages: one that no tool of the server has.
    """

    def __init__(self) -> None:
        self.page_tool = PAGE_TOOL
        self._tools: dict[str, Mapping[str, Any]] = {}
        self._checks: dict[str, Fits | None] = {}

    @property
    def names(self) -> list[str]:
        """Of the tools."""
        return list(self._tools)

    def learn(self, tools: Iterable[Any], anew: bool) -> None:
        """Takes in a list of tools.

        Args:
            tools: as the server describes them; what is no such thing is passed over.
            anew: whether it is the beginning of a list, so that tools known before may be gone.
        """
        if anew:
            self._tools.clear()
        for tool in tools:
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                self._tools[tool["name"]] = tool
        self._checks.clear()
        names = chain([PAGE_TOOL], (f"{PAGE_TOOL}_{number}" for number in count(2)))
        self.page_tool = next(name for name in names if name not in self._tools)

    def fits(self, name: str) -> Fits:
        """Tells of structured content whether the tool may give it.

        Of a tool that was never listed nobody knows; then it tells that none may be given but the tool's own.
        """
        tool = self._tools.get(name)
        if tool is None:
            return lambda _: False
        schema = tool.get("outputSchema")
        if schema is None:
            return lambda _: True
        return lambda content: self._is_valid(name, schema, content)

    def input_schema(self, name: str) -> Any:
        """Of a tool's arguments; None if it was never listed."""
        return self._tools.get(name, {}).get("inputSchema")

    def _is_valid(self, name: str, schema: Any, content: Any) -> bool:
        if name not in self._checks:
            self._checks[name] = _check(schema)
        check = self._checks[name]
        try:
            return check is not None and check(content)
        except Exception:  # a reference that leads nowhere, or in circles
            return False


def _check(schema: Any) -> Fits | None:
    """What validates by a schema; None if it is no schema. References to other documents are not followed."""
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]
    from referencing import Registry

    try:
        kind = validator_for(schema)
        kind.check_schema(schema)
    except (SchemaError, TypeError, AttributeError, RecursionError):
        return None
    check: Fits = kind(schema, registry=Registry()).is_valid
    return check
