"""The configuration made usable: counters, value functions and folders instead of their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core.costs import TokenCounter, token_counter
from ...core.errors import InputError
from ...core.formats import parse
from ...core.items import Item, Query
from ...core.root import Root
from ...core.values import ValueFunction
from ...readers import value_functions
from .additions import Finder
from .config import ProxyConfig, ToolRule


@dataclass(frozen=True)
class Rule:
    """What is done with the results of a tool.

    Args:
        budget: tokens of a page.
        form: of the text.
        counter: what a token is.
        function: scores the items.
        finder: finds files that the tool may have missed.
        add: how many of them a page may get.
    """

    budget: int
    form: str
    counter: TokenCounter
    function: ValueFunction
    finder: Finder | None = None
    add: int = 0


class Filled:
    """A value function that sees the bodies of the files that items stand for, and lets go of them again.

    Args:
        function: scores the items.
        folder: whose files they are.
    """

    def __init__(self, function: ValueFunction, folder: Root) -> None:
        self.name, self._function, self._folder = function.name, function, folder

    def values(self, query: Query, items: Sequence[Item]) -> NDArray[np.float64]:
        """As the function gives them."""
        return self._function.values(query, [self._folder.fill(item) for item in items])


class Rules:
    """The rules of all tools.

    Args:
        config: as read.

    Raises:
        InputError: it names something that is not there; says for which tool.
    """

    def __init__(self, config: ProxyConfig) -> None:
        self._counter = token_counter(config.tokens)
        self._functions = {config.value_function: value_functions.create(config.value_function)}
        self._config = config
        self._all = self._made(ToolRule())
        self.by_name: Mapping[str, Rule | None] = {
            name: None if rule is None else self._of_tool(name, rule)
            for name, rule in (config.tools or {}).items()
        }

    def of(self, tool: str) -> Rule | None:
        """The rule of a tool; None if its results are left as they are."""
        return self.by_name.get(tool, self._all)

    @property
    def finders(self) -> list[Finder]:
        """Of all tools that have one."""
        return [rule.finder for rule in self.by_name.values() if rule and rule.finder]

    def _of_tool(self, name: str, rule: ToolRule) -> Rule:
        try:
            return self._made(rule)
        except InputError as error:
            raise InputError(f"tools: {name}: {error}") from error

    def _made(self, rule: ToolRule) -> Rule:
        if rule.root and not Path(rule.root).is_dir():
            raise InputError(f"root: must name a folder, and '{rule.root}' is none")
        parse("", "auto" if rule.form == "mcp" else rule.form)  # an unknown form is named before any result
        function = rule.value_function or self._config.value_function
        if function not in self._functions:
            self._functions[function] = value_functions.create(function)
        return Rule(
            rule.budget or self._config.budget,
            "auto" if rule.form == "mcp" else rule.form,
            self._counter,
            Filled(self._functions[function], Root(rule.root)) if rule.root else self._functions[function],
            Finder(rule.root, rule.candidates, self._functions[function]) if rule.candidates else None,
            rule.add,
        )
