"""Contracts, tool-answer forms, token costs, selection and git object access."""

from .costs import TokenCounter, token_counter
from .errors import FirstpageError, InputError, MissingExtraError, RunError
from .items import Item, Query
from .selection import select, select_exact, select_greedy
from .values import ValueFunction, evaluate, ranking

__all__ = [
    "FirstpageError",
    "InputError",
    "Item",
    "MissingExtraError",
    "Query",
    "RunError",
    "TokenCounter",
    "ValueFunction",
    "evaluate",
    "ranking",
    "select",
    "select_exact",
    "select_greedy",
    "token_counter",
]
