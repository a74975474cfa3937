"""What a text costs an agent: token counters, from the paper's row cost to real tokenizers.

`token_counter` makes one from its name:

* ``chars4``: a token for every four characters begun; needs nothing, and the default.
* ``rows``: the first-chunk paper's cost of a result row, 30 + max(1, len // 4) a line.
* ``tiktoken:ENCODING``: an OpenAI encoding such as ``tiktoken:o200k_base``.
* ``hf:NAME``: a Hugging Face tokenizer, by a ``tokenizer.json``, a folder that holds one, or its hub name.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from .errors import InputError, MissingExtraError, RunError

ROW_OVERHEAD = 30  # tokens of a row's frame, arXiv 2608.26130, section 4.1


class NoVocabularyError(RunError):
    """A tokenizer's vocabulary is not on this machine and cannot be fetched; its text says so."""


class TokenCounter(Protocol):
    """Counts the tokens of a text.

    Attributes:
        name: as given to `token_counter`.
        subadditive: whether a whole never takes more than its parts, so that what its parts are sure to fit
            need not be counted again.
    """

    name: str
    subadditive: bool

    def count(self, text: str) -> int:
        """Tokens of ``text``, >= 0; 0 for the empty text."""
        ...


class CharacterCounter:
    """A token for every four characters begun, which suits English and code to about a fifth."""

    name = "chars4"
    subadditive = True

    def count(self, text: str) -> int:
        """Tokens of ``text``, rounded up."""
        return (len(text) + 3) // 4


class RowCounter:
    """The cost of a result row in the first-chunk paper, for every line of the text."""

    name = "rows"
    subadditive = True

    def count(self, text: str) -> int:
        """The sum of `row_cost` over the lines of ``text``."""
        return sum(row_cost(line) for line in text.removesuffix("\n").split("\n")) if text else 0


def row_cost(row: str) -> int:
    """Tokens of one result row: 30 + max(1, len // 4) (arXiv 2608.26130, section 4.1)."""
    return ROW_OVERHEAD + max(1, len(row) // 4)


class _EncodingCounter:
    """Counts with any function from text to tokens."""

    subadditive = False  # two texts may meet where either alone would have been one token

    def __init__(self, name: str, encode: Callable[[str], int]) -> None:
        self.name = name
        self._encode = encode

    def count(self, text: str) -> int:
        return self._encode(readable(text))


def readable(text: str) -> str:
    """The text with bytes that were no UTF-8 (kept as lone surrogates) replaced by U+FFFD.

    Tokenizers refuse lone surrogates, and an agent is shown the replacement too.
    """
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def token_counter(name: str) -> TokenCounter:
    """The counter of that name.

    Args:
        name: ``chars4``, ``rows``, ``tiktoken:ENCODING`` or ``hf:NAME``.

    Raises:
        InputError: no counter has that name, tiktoken knows no such encoding, or a file is no tokenizer.
        MissingExtraError: tiktoken or tokenizers is not installed.
        NoVocabularyError: the vocabulary is not on this machine and cannot be fetched.

    Example:
        >>> token_counter("chars4").count("django/db/models/query.py")
        7
    """
    kind, _, which = name.partition(":")
    if name == "chars4":
        return CharacterCounter()
    if name == "rows":
        return RowCounter()
    if kind == "tiktoken" and which:
        return _EncodingCounter(name, _tiktoken(which))
    if kind == "hf" and which:
        return _EncodingCounter(name, _hugging_face(which))
    raise InputError(
        f"'{name}' is no token counter; use chars4, rows, tiktoken:ENCODING (tiktoken:o200k_base) "
        "or hf:NAME (a tokenizer.json, its folder or a hub name)"
    )


def _tiktoken(encoding: str) -> Callable[[str], int]:
    try:
        import tiktoken
    except ImportError:
        raise MissingExtraError("counting with tiktoken", "tokens") from None
    if encoding not in tiktoken.list_encoding_names():
        known = ", ".join(tiktoken.list_encoding_names())
        raise InputError(f"tiktoken has no encoding '{encoding}'; it has {known}")
    try:
        loaded = tiktoken.get_encoding(encoding)
    except Exception as error:  # whatever its HTTP client raises
        raise NoVocabularyError(
            f"the vocabulary of tiktoken's '{encoding}' is not on this machine and could not be fetched "
            f"({type(error).__name__}); run once on line, or set TIKTOKEN_CACHE_DIR to a folder that has it"
        ) from error
    return lambda text: len(loaded.encode(text, disallowed_special=()))


def _hugging_face(name: str) -> Callable[[str], int]:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError("counting with a Hugging Face tokenizer", "tokens") from None
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it reports every retry
    path = Path(name)
    path = path / "tokenizer.json" if path.is_dir() else path
    if path.is_file():
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises bare Exception
            raise InputError(f"'{path}' is no tokenizer that can be read: {error}") from error
    else:
        tokenizer = _from_hub(Tokenizer, name)
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _from_hub(tokenizer: Any, name: str) -> Any:
    try:
        return tokenizer.from_pretrained(name)
    except ValueError as error:
        raise InputError(
            f"'{name}' is neither a tokenizer.json, nor a folder that holds one, nor a name on the hub"
        ) from error
    except Exception as error:  # whatever its HTTP client raises
        raise NoVocabularyError(
            f"the tokenizer '{name}' is neither a tokenizer.json on this machine nor could it be fetched "
            f"({type(error).__name__}); give the path of a tokenizer.json or run once on line"
        ) from error
