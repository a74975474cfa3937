"""Source files as chunks that follow their structure, and as one outline: what the neural readers read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from .definitions import definitions
from .languages import Language, language, parse

if TYPE_CHECKING:
    from tree_sitter import Node

MOST = 1_200  # characters of a chunk: about 300 tokens, which the small encoders read whole
READ = 400_000  # characters of a file that are read; what comes after is of no chunk

_DEEPEST = 12  # definitions within each other that are told apart
_DOC_WORDS = 60
_DOC = re.compile(r"\A(?:\s*#[^\n]*\n|\s)*[rRuU]?(\"\"\"|''')(.*?)(?:\1|\Z)", re.DOTALL)
_COMMENT = re.compile(r"\A\s*(?:/\*(.*?)\*/|((?:\s*(?://|#)[^\n]*\n)+))", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")

_Cut = tuple[int, tuple[str, ...]]  # a line from 0, and the labels of what is around it


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file.

    Args:
        start: its first line, from 1.
        end: the line after its last.
        header: the file's path and the definitions around the piece.
        text: as it stands in the file.
    """

    start: int
    end: int
    header: str
    text: str


def chunks(path: str, text: str, most: int = MOST) -> list[Chunk]:
    r"""The chunks of a file, in order; joined, their texts are what was read of it.

    A function is a chunk, a class is one up to its first method. Neighbours that are small together become
    one; what is too long is cut between lines, and a line that is too long anywhere. A file in no known
    language is cut by its length alone.

    Args:
        path: tells the language, and stands in the headers.
        text: of the file, of which `READ` characters are read.
        most: characters of a chunk.

    Raises:
        MissingExtraError: tree-sitter is not installed.

    Example:
        >>> found = chunks("a.py", "class A:\n    def b(self):\n        return 1\n", most=40)
        >>> [(chunk.start, chunk.end, chunk.header) for chunk in found]
        [(1, 2, 'a.py > class A'), (2, 4, 'a.py > class A > def b')]
    """
    lines = _LINE.findall(text[:READ])
    known = language(path)
    cuts = _cuts(known, text[:READ]) if known else [(0, ())]
    ends = [row for row, _ in cuts[1:]] + [len(lines)]
    pieces = [_Piece(row, end, labels) for (row, labels), end in zip(cuts, ends, strict=True) if row < end]
    sizes = [0]
    for line in lines:
        sizes.append(sizes[-1] + len(line))
    return [
        Chunk(start + 1, end + 1, " > ".join((path, *piece.labels)), part)
        for piece in _merged(pieces, lines, sizes, most)
        for start, end, part in _split(lines, piece, most)
    ]


def document(chunk: Chunk) -> str:
    """What a model reads of a chunk: its header, then its text."""
    return f"{chunk.header}\n{chunk.text}"


def outline(path: str, text: str) -> str:
    r"""One text that stands for a file: the words of its path, its first explanation, what it defines.

    Example:
        >>> outline("shop/cart.py", "# Carts of customers.\nclass Cart:\n    def add_item(self): ...\n")
        'shop cart py\nCarts of customers.\nCart add_item'
    """
    read = text[:READ]
    explained = _DOC.match(read) or _COMMENT.match(read)
    told = next(filter(None, reversed(explained.groups())), "") if explained else ""
    words = " ".join(re.sub(r"[#/*]+", " ", told).split()[:_DOC_WORDS])
    names = (name for name in definitions(read) if not name.startswith("__"))
    return f"{' '.join(re.findall(r'[^/._]+', path))}\n{words}\n{' '.join(names)}"


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines from ``start`` up to ``end``, from 0, and the labels around them."""

    start: int
    end: int
    labels: tuple[str, ...]


def _cuts(known: Language, text: str) -> list[_Cut]:
    """Where pieces begin, in order, the first at line 0; of several at one line the innermost."""
    return sorted(({0: ()} | dict(_inside(known, parse(known, text), ()))).items())


def _inside(known: Language, node: "Node", around: tuple[str, ...]) -> Iterator[_Cut]:
    for child in node.named_children:
        if (definition := known.definition(child)) is None:
            continue
        labels = (*around, known.label(definition))
        yield child.start_point.row, labels
        if len(labels) < _DEEPEST:
            yield from _inside(known, definition.child_by_field_name("body") or definition, labels)
        ends_with_line = child.end_point.column == 0
        yield child.end_point.row + (not ends_with_line), around


def _merged(
    pieces: Sequence[_Piece], lines: Sequence[str], sizes: Sequence[int], most: int
) -> list[_Piece]:
    """Pieces with their neighbours where both take no more than half of a chunk, and with blank lines."""
    merged: list[_Piece] = []
    for piece in pieces:
        if merged and not any(map(str.strip, lines[piece.start : piece.end])):
            merged[-1] = _Piece(merged[-1].start, piece.end, merged[-1].labels)
        elif merged and sizes[piece.end] - sizes[merged[-1].start] <= most // 2:
            shared = _shared(merged[-1].labels, piece.labels)
            merged[-1] = _Piece(merged[-1].start, piece.end, shared)
        else:
            merged.append(piece)
    return merged


def _shared(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """The labels that both begin with."""
    pairs = zip(some, others, strict=False)
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _split(lines: Sequence[str], piece: _Piece, most: int) -> Iterator[tuple[int, int, str]]:
    """The piece cut between lines, as late as fits; too long a line is cut every ``most`` characters."""
    start, held = piece.start, ""
    for row in range(piece.start, piece.end):
        line = lines[row]
        if held and len(held) + len(line) > most:
            yield start, row, held
            start, held = row, ""
        while len(line) > most:
            yield row, row + 1, line[:most]
            line = line[most:]
        if not held:
            start = row
        held += line
    if held:
        yield start, piece.end, held
