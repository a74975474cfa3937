"""Reads the bodies of listed files from a folder, and never anything outside it."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from .errors import InputError
from .items import Item

# A longer file is scored by its beginning; nothing of it is shown, so nothing is cut that an agent sees.
READ_BYTES = 1 << 20

# Some flags are not on every system.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)
_PLACE = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)  # to pass, not to list


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
            handle = self._open(real)
            try:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    return None
                with os.fdopen(handle, "rb", closefd=False) as file:
                    body = file.read(READ_BYTES)
            finally:
                os.close(handle)
        except (OSError, ValueError, RuntimeError):  # a NUL in the path; a link that leads to itself
            return None
        return None if b"\0" in body else body.decode("utf-8", "replace")

    def _open(self, real: Path) -> int:
        """Opens the very path that was checked: no link put there since, and no pipe to hang on."""
        if os.open not in os.supports_dir_fd:
            return os.open(real, _FILE)
        *folders, name = real.relative_to(self._folder).parts or (".",)
        place = os.open(self._folder, _PLACE)
        try:
            for part in folders:
                inner = os.open(part, _PLACE | _NO_LINK, dir_fd=place)
                os.close(place)
                place = inner
            return os.open(name, _FILE, dir_fd=place)
        finally:
            os.close(place)

    def _reader(self, path: str) -> Callable[[], str | None]:
        return lambda: self.read(path)
