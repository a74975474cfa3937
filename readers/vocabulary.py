"""The numbers under which a cache file keeps words, so that a text is a few bytes a word."""

import sqlite3
from collections.abc import Iterable

import numpy as np

from .database import CacheFile

SCHEMA = "CREATE TABLE IF NOT EXISTS words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);"


class Vocabulary:
    """The words of a cache file with their numbers, from 1.

    Args:
        file: whose schema holds `SCHEMA`.

    Attributes:
        ids: of every word that was read or written so far, in their order.
    """

    def __init__(self, file: CacheFile) -> None:
        self._file = file
        self.ids: dict[str, int] = {}
        self._newest = 0

    def learn(self) -> None:
        """Reads the words that other runs and processes have added."""
        newer = "SELECT word, id FROM words WHERE id > ? ORDER BY id"
        self.ids.update(self._file.database.execute(newer, (self._newest,)))
        self._newest = next(reversed(self.ids.values()), 0)

    def add(self, words: Iterable[str], database: sqlite3.Connection) -> None:
        """Gives a number to every word that has none; to be called in a transaction."""
        self.learn()
        new = dict.fromkeys(word for word in words if word not in self.ids)
        numbered = list(enumerate(new, self._newest + 1))
        database.executemany("INSERT INTO words VALUES (?, ?)", numbered)
        self.ids.update((word, number) for number, word in numbered)
        self._newest += len(numbered)

    def forget(self) -> None:
        """Starts over, with a new mapping: whoever holds the old one goes on with its numbers."""
        self.ids, self._newest = {}, 0

    def packed(self, words: Iterable[str]) -> bytes:
        """The numbers of words, four bytes each."""
        return np.fromiter((self.ids[word] for word in words), np.int32).tobytes()
