"""Source files as chunks that follow their structure, and as one outline: what the neural readers read."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from math import ceil
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
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")  # as git and tree-sitter count them: no other character ends one
_LEADING = re.compile("comment|attribute")  # node types that belong to what stands right below them


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

    A definition that fits is one piece, with the comments right above it. A larger one is taken apart: into
    the members of a class, the statements of a function, and at last into lines. Neighbours of the same body
    become one chunk while they fit. A line that does not fit is cut every ``most`` characters, and its pieces
    are chunks of the same line. A file in no known language is cut between lines alone.

    Args:
        path: tells the language, and stands in the headers.
        text: of the file, of which `READ` characters are read; binary or minified, it is cut all the same.
        most: characters of a chunk, at least 1.

    Raises:
        MissingExtraError: the language is known, and tree-sitter is not installed.
        ValueError: ``most`` is below 1.

    Example:
        >>> found = chunks("a.py", "class A:\n    def b(self):\n        return 1\n", most=40)
        >>> [(chunk.start, chunk.end, chunk.header) for chunk in found]
        [(1, 2, 'a.py > class A'), (2, 4, 'a.py > class A')]
    """
    if most < 1:
        raise ValueError(f"a chunk of at most {most} characters holds nothing")
    read = text[:READ]
    lines = _LINE.findall(read)
    ends = [0, *accumulate(map(len, lines))]
    known = language(path)
    whole = _Piece(0, len(lines), nodes=(parse(known, read),) if known else ())
    # Bytes of a path that are no text would be none to a tokenizer either.
    shown = path.encode("utf-8", "replace").decode()
    found = []
    for run in _packed(_pieces(whole, known, ends, most), ends, most):
        start, end = run[0].start, run[-1].end
        header = " > ".join((shown, *(run[0].labels if len(run) == 1 else run[0].around)))
        body = "".join(lines[start:end])
        found += [Chunk(start + 1, end + 1, header, body[at : at + most]) for at in range(0, len(body), most)]
    return found


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
    """Lines from ``start`` up to ``end``, from 0.

    Args:
        around: labels of the definitions whose body it is part of.
        home: the line where the innermost of those begins.
        label: of the one definition that it is, if it is one.
        nodes: the syntax in it, if any is known.
    """

    start: int
    end: int
    around: tuple[str, ...] = ()
    home: int = 0
    label: str = ""
    nodes: Sequence["Node"] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        return (*self.around, self.label) if self.label else self.around


def _pieces(whole: _Piece, known: Language | None, ends: Sequence[int], most: int) -> Iterator[_Piece]:
    """The largest parts that fit, or are single lines, in order."""
    waiting = [whole] if whole.start < whole.end else []
    while waiting:  # no recursion: code that was generated may be nested very deep
        piece = waiting.pop()
        if piece.end - piece.start == 1 or ends[piece.end] - ends[piece.start] <= most:
            yield piece
        else:
            waiting.extend(reversed(_parts(piece, known)))


def _parts(piece: _Piece, known: Language | None) -> list[_Piece]:
    """What a piece of several lines is made of: what its syntax is, or lines where it has no parts."""
    inside = [part for node in piece.nodes for part in (_opened(node, known) if known else ())]
    around, home = piece.labels[:_DEEPEST], piece.start if piece.label else piece.home
    if known is None or inside == list(piece.nodes):
        return [_Piece(row, row + 1, around, home) for row in range(piece.start, piece.end)]
    groups = _by_rows(inside)
    starts = [piece.start, *(group[0].start_point.row for group in groups[1:])]
    return [
        _Piece(start, end, around, home, _label(group, known), group)
        for group, start, end in zip(groups, starts, [*starts[1:], piece.end], strict=True)
    ]


def _opened(node: "Node", known: Language) -> list["Node"]:
    """The children of a node; of one that is wrapped around a definition, those of both."""
    definition = known.definition(node)
    if definition is None or definition == node:
        return node.children or [node]
    return [
        inner
        for child in node.children
        for inner in (_opened(child, known) if known.definition(child) == definition else [child])
    ]


def _by_rows(nodes: Iterable["Node"]) -> list[list["Node"]]:
    """Nodes in groups that share no line, comments together with what stands right below them."""
    groups: list[list[Node]] = []
    last, leading = -1, False
    for node in nodes:
        first = node.start_point.row
        if groups and (first <= last or (leading and first == last + 1)):
            groups[-1].append(node)
        else:
            groups.append([node])
        leading = first > last and _LEADING.search(node.type) is not None
        ends_with_line = node.end_point.column == 0
        last = max(last, first, node.end_point.row - ends_with_line)
    return groups


def _label(group: Sequence["Node"], known: Language) -> str:
    """Of the one definition in a group; empty if there is none, or several."""
    found = [definition for node in group if (definition := known.definition(node))]
    return known.label(found[0]) if len(found) == 1 else ""


def _packed(pieces: Iterable[_Piece], ends: Sequence[int], most: int) -> Iterator[list[_Piece]]:
    """Neighbours of the same body that become one chunk: while they fit, definitions up to half of one.

    What does not fit is shared out evenly, so that no chunk holds but the last line of a function.
    """
    for _, same in groupby(pieces, lambda piece: (piece.home, piece.around)):
        run = list(same)
        size = ends[run[-1].end] - ends[run[0].start]
        enough = size / ceil(size / most)
        held: list[_Piece] = []
        for piece in run:
            limit = most // 2 if any(one.label for one in (*held, piece)) else most
            start = ends[held[0].start] if held else 0
            if held and (ends[piece.end] - start > limit or ends[held[-1].end] - start >= enough):
                yield held
                held = []
            held.append(piece)
        yield held
