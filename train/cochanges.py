"""Which files were changed together, and how often, until a commit."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from .changes import Commit
from .history import MOST_CHANGES

_LATEST = 200  # commits of a file that are looked at


class Cochanges:
    """What a history tells of files that are changed together.

    Args:
        history: commits, newest first. A commit of more files than `history.MOST_CHANGES` tells nothing.
    """

    def __init__(self, history: Iterable[Commit]) -> None:
        self._place: dict[str, int] = {}  # of a commit; a higher one is an earlier commit
        self._commits: dict[str, list[int]] = defaultdict(list)  # of a path, ascending
        self._paths: dict[int, Sequence[str]] = {}
        for place, commit in enumerate(history):
            self._place[commit.name] = place
            if 1 < len(commit.changes) <= MOST_CHANGES:
                self._paths[place] = [change.path for change in commit.changes]
                for path in self._paths[place]:
                    self._commits[path].append(place)

    def until(self, commit: str, path: str) -> list[str]:
        """The files that commits changed together with this one, most often first, then latest first.

        Args:
            commit: full object name; it and earlier commits count. There are none if the history lacks it.
            path: of the file.
        """
        if commit not in self._place or path not in self._commits:
            return []
        places = self._commits[path]
        first = bisect_left(places, self._place[commit])
        earlier = places[first : first + _LATEST]
        together = Counter(other for place in earlier for other in self._paths[place] if other != path)
        return [other for other, _ in together.most_common()]
