"""The two sides that the proxy stands between, and what may happen to them."""

import sys
from typing import Protocol


class Side(Protocol):
    """A client or a server, seen as lines that come and go."""

    async def receive(self) -> str | None:
        """The next line; None once there are no more.

        Raises:
            InterruptedSideError: it will not answer what it was asked until now, and goes on all the same.
        """
        ...

    async def send(self, line: str) -> None:
        """Sends a line.

        Raises:
            SendError: it takes no more lines, or not this one.
        """
        ...


class ClientSide(Side, Protocol):
    """A client, which may hang up while the server keeps its lines waiting."""

    async def gone(self) -> None:
        """Returns once it has hung up."""
        ...


class InterruptedSideError(Exception):
    """The connection broke, and may be made anew with the next line; the text says why."""


class SendError(Exception):
    """A line cannot be sent; the text says why."""


def log(message: str) -> None:
    """Tells the person who runs the proxy; standard output is the client's."""
    print(f"firstpage: mcp proxy: {' '.join(message.split())}", file=sys.stderr, flush=True)  # noqa: T201
