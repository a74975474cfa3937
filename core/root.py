"""Reads the bodies of listed files from a folder, and never anything outside it."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from .errors import InputError
from .items import Item

# A longer file is scored by its beginning; nothing of it is shown, so nothing is cut that an agent sees.
READ_BYTES = 1 << 20


class Root:
    """A folder whose files may be read to score the items that stand for them.

    Args:
        folder: relative paths of items are looked up in it.

    Raises:
        InputError: it is no folder.
    """

    def __init__(self, folder: str | Path) -> None:
        if not Path(folder).is_dir():
            raise InputError(f"--root must name a folder, and '{folder}' is none")
        self._folder = Path(folder).resolve()

    def fill(self, item: Item) -> Item:
        """The item with its file's body as content, read at first use; unchanged where it has no path."""
        if item.path is None:
            return item
        return item.with_content(self._reader(item.path))

    def read(self, path: str) -> str | None:
        """The body of a file; None if it is outside the folder, no regular file, binary or unreadable.

        Links are followed as long as they end inside the folder.
        """
        try:
            real = (self._folder / path).resolve()
            if not real.is_relative_to(self._folder):
                return None
            # What is opened is the path just checked: neither a link put there since nor a pipe to hang on.
            handle = os.open(real, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except (OSError, ValueError, RuntimeError):  # a NUL in the path; a link that leads to itself
            return None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            return None
        with os.fdopen(handle, "rb") as file:
            body = file.read(READ_BYTES)
        return None if b"\0" in body else body.decode("utf-8", "replace")

    def _reader(self, path: str) -> Callable[[], str | None]:
        return lambda: self.read(path)
