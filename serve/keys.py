"""The bearer keys of a service: several, compared in constant time, never logged."""

import hashlib
import hmac
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..core.errors import InputError

VARIABLE = "FIRSTPAGE_KEYS"


class Keys:
    """Who may ask.

    Args:
        keys: all of them; anybody may ask where there are none.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        # Of one length, so that not even that of a key can be measured.
        self._digests = [_digest(key.encode("utf-8", "surrogateescape")) for key in keys]

    def __bool__(self) -> bool:
        return bool(self._digests)

    def admit(self, authorization: str) -> bool:
        """Whether the value of the header ``Authorization`` has one of the keys."""
        scheme, _, key = authorization.partition(" ")
        asked = _digest(key.strip().encode("latin-1"))  # as it came over the wire
        found = [hmac.compare_digest(asked, digest) for digest in self._digests]
        return not self._digests or (scheme.lower() == "bearer" and any(found))


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()


def read_keys(file: str) -> Keys:
    """The keys of a file, one a line, and those of the environment variable, with commas between them.

    Raises:
        InputError: the file cannot be read, or has no key.
    """
    named = _listed(os.environ.get(VARIABLE, "").split(","))
    if not file:
        return Keys(named)
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"keys_file: '{file}' cannot be read: {error}") from error
    if not (kept := _listed(lines)):
        raise InputError(f"keys_file: '{file}' has no key; write one a line")
    return Keys([*kept, *named])


def _listed(texts: Sequence[str]) -> list[str]:
    stripped = map(str.strip, texts)
    return [text for text in stripped if text and not text.startswith("#")]
