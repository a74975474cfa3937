"""Cuts a stream of bytes into lines of bounded length."""


class Lines:
    r"""Takes bytes as they come and gives whole lines.

    Bytes that are no UTF-8 are kept as lone surrogates, so that a line can be passed on as it came.

    Args:
        longest: bytes of a line; a longer one is left out.

    Example:
        >>> lines = Lines(longest=8)
        >>> lines.feed(b'{"a"'), lines.feed(b':1}\n[]\n'), lines.feed(b"123456789"), lines.feed(b"0\n{")
        ([], ['{"a":1}', '[]'], [], [None])
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[str | None]:
        """The lines that end in this chunk, without what ends them; None for one that was too long."""
        *ends, rest = chunk.split(b"\n")
        lines = []
        for end in ends:
            self._keep(end)
            lines.append(self._line())
        self._keep(rest)
        return lines

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._longest:
            self._parts.clear()
        elif part:
            self._parts.append(part)

    def _line(self) -> str | None:
        line = None if self._size > self._longest else b"".join(self._parts)
        self._parts, self._size = [], 0
        return None if line is None else line.removesuffix(b"\r").decode("utf-8", "surrogateescape")
