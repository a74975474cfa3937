"""Whose turn it is: units of work that wait, and batches made of them by tokens, fair among requests.

A batch starts with a unit of the request whose turn it is and takes those nearest in length from all
requests, so that little is padded. Turns are those of fair queueing (Demers, Keshav and Shenker, SIGCOMM
1989): the request is next that would end first if all who wait were served alike, token by token. So one
request of a thousand documents does not stall small ones, nor do ever new small ones keep it waiting for
ever, and of requests of one size the first that came is done first.
"""

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, slots=True)
class Unit:
    """What goes through a model whole: a text, a pair or a call.

    Args:
        work: what the model is given.
        length: in tokens; >= 1.
        truncated: whether something of it was cut off, as the model reads no more.
        share: the request it belongs to, once it waits.
    """

    work: Any
    length: int
    truncated: bool = False
    share: "Share | None" = field(default=None, repr=False)


@dataclass(eq=False, slots=True)
class Share:
    """The units of one request that still wait, in ascending length, and its turn.

    Args:
        units: that wait.
        turn: tokens that one who has waited from the beginning will have been served when it ends.
    """

    units: list[Unit]
    turn: float


class Queue:
    """Units that wait.

    Args:
        batch_tokens: of a batch as it is padded: its longest unit times its number of units; a longer unit
            goes alone.
        batch_units: of a batch at most.
    """

    def __init__(self, batch_tokens: int, batch_units: int) -> None:
        self._batch_tokens, self._batch_units = batch_tokens, batch_units
        self._units: list[Unit] = []  # in ascending length
        self._shares: list[Share] = []  # those with units that wait, in order of arrival
        self._turn = 0.0  # tokens that one who waits from the beginning has been served

    def __len__(self) -> int:
        """How many units wait."""
        return len(self._units)

    def add(self, units: Iterable[Unit]) -> Share:
        """Lets the units of one request wait."""
        share = Share(sorted(units, key=_length), self._turn)
        share.turn += sum(map(_length, share.units))
        for unit in share.units:
            unit.share = share
            insort(self._units, unit, key=_length)
        if share.units:
            self._shares.append(share)
        return share

    def drop(self, share: Share) -> None:
        """Forgets the units of a request that still wait: nobody wants their results any more."""
        if share in self._shares:
            self._shares.remove(share)
            self._units = [unit for unit in self._units if unit.share is not share]
            share.units = []

    def batch(self) -> list[Unit]:
        """The units whose turn it is, which wait no longer; empty if none wait."""
        if not self._shares:
            return []
        due = min(self._shares, key=lambda share: share.turn)  # of equal ones the first that came
        head = due.units[-1]
        start = end = self._units.index(head)
        end += 1
        while (grown := self._grown(start, end, head.length)) is not None:
            start, end = grown
        taken = self._units[start:end]
        del self._units[start:end]
        self._turn += sum(unit.length for unit in taken) / len(self._shares)
        self._serve(taken)
        return taken

    def _grown(self, start: int, end: int, length: int) -> tuple[int, int] | None:
        """The run of units with the neighbour that is nearer to a length; None where none may join."""
        if end - start >= self._batch_units:
            return None
        sizes = (self._batch_tokens // self._units[end - 1].length, 0)
        below = length - self._units[start - 1].length if start else None
        above = self._units[end].length - length if end < len(self._units) else None
        if above is not None:
            sizes = (sizes[0], self._batch_tokens // self._units[end].length)
        may_grow_down = below is not None and end - start < sizes[0]
        may_grow_up = above is not None and end - start < sizes[1]
        if may_grow_up and not (may_grow_down and (below or 0) < (above or 0)):
            return start, end + 1
        return (start - 1, end) if may_grow_down else None

    def _serve(self, taken: Sequence[Unit]) -> None:
        gone = set(map(id, taken))
        served = {id(unit.share): unit.share for unit in taken}
        for share in served.values():
            assert share is not None
            share.units = [unit for unit in share.units if id(unit) not in gone]
        self._shares = [share for share in self._shares if share.units]


def _length(unit: Unit) -> int:
    return unit.length
