"""Source files as chunks that follow their structure, and as one outline: what the neural readers read."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from math import ceil
from typing import TYPE_CHECKING

from .definitions import definitions
from .languages import Language, language, parse
from .words import shown

if TYPE_CHECKING:
    from tree_sitter import Node

MOST = 1_200  # characters of a chunk: about 300 tokens, which the small encoders read whole
READ = 400_000  # characters of a file that are read; what comes after is of no chunk

_DEEPEST = 12  # definitions within each other that are told apart
_EXPLAINED = 60  # words of an outline that explain the file
_DOC = re.compile(r"(?:\s|#[^\n]*\n)*+[rRuU]?(\"\"\"|''')(.*?)(?:\1|\Z)", re.DOTALL)
_COMMENT = re.compile(
    r"\s*+(?:#![^\n]*\n|<\?php\s++)?(?:/\*.*?(?:\*/|\Z)|(?:[ \t]*(?://|#(?![a-z]+\b))[^\n]*(?:\n|\Z))++)",
    re.DOTALL,
)
_LEGAL = re.compile("copyright|licen[cs]e|SPDX", re.IGNORECASE)
_MARKS = re.compile(r"-\*-.*?-\*-|#!.*|<\?php|[#/*!]+")
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
        [(1, 2, 'a.py > class A'), (2, 4, 'a.py > class A > def b')]
    """
    if most < 1:
        raise ValueError(f"a chunk of at most {most} characters holds nothing")
    read = text[:READ]
    lines = _LINE.findall(read)
    ends = [0, *accumulate(map(len, lines))]
    known = language(path)
    root = parse(known, read) if known else None
    whole = _Piece(0, len(lines), nodes=(root,) if root else ())
    found = []
    for run in _packed(_pieces(whole, known, ends, most), ends, most):
        start, end = run[0].start, run[-1].end
        header = " > ".join((shown(path), *(run[0].labels if len(run) == 1 else run[0].around)))
        body = "".join(lines[start:end])
        found += [Chunk(start + 1, end + 1, header, body[at : at + most]) for at in range(0, len(body), most)]
    return found


def document(chunk: Chunk) -> str:
    """What a model reads of a chunk: its header, then its text."""
    return f"{chunk.header}\n{chunk.text}"


def outline(path: str, text: str) -> str:
    r"""One text that stands for a file: the words of its path, its first explanation, what it defines.

    A line each. The explanation is the beginning of the module's docstring, or else of the first comment at
    the top that is not about rights.

    Args:
        path: tells the language.
        text: of the file, of which `READ` characters are read.

    Raises:
        MissingExtraError: the language is known, and tree-sitter is not installed.

    Example:
        >>> outline("shop/cart.py", "# Carts of customers.\nclass Cart:\n    def add_item(self): ...\n")
        'shop cart py\nCarts of customers.\nCart add_item'
    """
    read = text[:READ]
    known = language(path)
    root = parse(known, read) if known else None
    names = known.names(root) if known and root else definitions(read)
    words = _MARKS.sub(" ", _explanation(read)).split()[:_EXPLAINED]
    return "\n".join(map(" ".join, (re.findall(r"[^/._]+", shown(path)), words, names)))


def _explanation(text: str) -> str:
    if found := _DOC.match(text):
        return found[2]
    at = 0
    while found := _COMMENT.match(text, at):
        if not _LEGAL.search(found[0]):
            return found[0]
        at = found.end()
    return ""


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
    """The children of a node; of a definition, and of what is wrapped around one, also those of its body."""
    definition = known.definition(node)
    if definition is None:
        return node.children or [node]
    body = known.body(definition)
    inside: list[Node] = []
    for child in node.children:
        if child == body:
            inside += child.children or [child]
        elif definition != node and known.definition(child) == definition:
            inside += _opened(child, known)
        else:
            inside.append(child)
    return inside


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
        named = False
        for piece in run:
            limit = most // 2 if named or piece.label else most
            start = ends[held[0].start] if held else 0
            if held and (ends[piece.end] - start > limit or ends[held[-1].end] - start >= enough):
                yield held
                held, named = [], False
            held.append(piece)
            named = named or bool(piece.label)
        yield held
