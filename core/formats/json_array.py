"""A JSON array or object: issue lists, search results, API answers, results keyed by path.

An item is an element of the array, kept as it was written, and so is all text around the array: a page
with all items is the answer itself. Without being told, the array is the one with the most text among
those of objects (else among all) that are nested in objects, at most 32 deep. Where there is none, or
where what is around it is longer than it and than 2,000 characters, the items are the members of the
object, or of the one inside it that is nearly all of it; a key that looks like a path is the item's.

The note is one more element of an answer that is an array (``{"firstpage": note}``, or a string among
strings), and one more key of an answer that is an object: ``firstpage``, or ``firstpage_2`` and on where
the object has that one. An element is never split.
"""

import json
from collections.abc import Collection, Sequence
from itertools import chain, count, pairwise

from ..errors import InputError
from ..items import Item
from ._json import BLANK, Part, document, elements, members, path_in
from .answer import Answer
from .note import NOTE

Location = tuple[str, ...]

_DEPTH = 32
_AROUND = 2000


class JsonAnswer(Answer):
    """The elements of one array in a JSON text, or the members of one object.

    Args:
        items: the elements.
        header: the text before them.
        footer: the text after them.
        location: keys and positions that lead to the array or object.
        of_strings: whether the elements are strings.
        keys: of the object, if the items are its members.
    """

    form = "json"

    def __init__(
        self,
        items: Sequence[Item],
        header: str,
        footer: str,
        location: Location = (),
        of_strings: bool = False,
        keys: Collection[str] = (),
    ) -> None:
        self.items, self.header, self.footer = items, header, footer
        self.location, self.of_strings, self.keys = location, of_strings, keys

    def render(self, items: Sequence[Item], note: str = "") -> str:
        """The JSON text with these elements; with a note, its last line is the note and closes the JSON."""
        body = self.header + self.elements(items)
        if not note:
            return body + self.footer
        footer = self.footer.rstrip(BLANK)
        closing, end = footer[-1], self.footer[len(footer) :]
        body += footer[:-1].rstrip(BLANK)
        comma = "" if body.strip(BLANK) in {"[", "{"} else ","
        return f"{body}{comma}\n{self._note(closing, note)}{closing}{end}"

    def piece(self, item: Item) -> str:
        """The element and what parts it from the one before."""
        return f"{item.metadata['gap']}{item.text}"

    def elements(self, items: Sequence[Item]) -> str:
        """The elements as they stand between the header and the footer."""
        return "".join(item.text if not place else self.piece(item) for place, item in enumerate(items))

    def _note(self, closing: str, note: str) -> str:
        text = json.dumps(note, ensure_ascii=False)
        if closing == "}":
            keys = document(self.header + self.footer).value if self.location else self.keys
            return f'"{_free_key(keys)}": {text}'
        return text if self.of_strings and not self.location else f'{{"firstpage": {text}}}'


def parse_json(text: str, array: str | None = None) -> JsonAnswer:
    """The elements of the array at ``array``, or of the one with the most text.

    Args:
        text: one JSON array or object.
        array: JSON pointer (``/data/items``) or dotted keys (``data.items``); the empty pointer is the
            whole text.

    Raises:
        InputError: the text is no JSON array or object, or has no array there.
    """
    root = document(text)
    if not isinstance(root.value, list | dict):
        raise InputError("the JSON is neither an array nor an object; use the form 'paragraphs'")
    kept = _without_note(text, root)
    if kept != text:
        text, root = kept, document(kept)
    if array is not None:
        location = _location(array)
        return array_at(text, _walk(text, root, location), location)
    if isinstance(root.value, list):
        return array_at(text, root, ())
    found = _largest(text, root)
    if found and _size(root) - _size(found[0]) <= max(_size(found[0]), _AROUND):
        return array_at(text, *found)
    return array_at(text, *_main_object(text, root))


def looks_like_json(sample: str) -> bool:
    """Whether it starts as an array or an object does."""
    return sample.lstrip(BLANK).startswith(("{", "["))


def array_at(text: str, array: Part, location: Location) -> JsonAnswer:
    """The answer whose items are the elements of this array, or the members of this object, in the text."""
    parts = list((elements if isinstance(array.value, list) else members)(text, array.start))
    if not parts:
        return JsonAnswer([], text[: array.start + 1], text[array.start + 1 :], location)
    gaps = [text[before.end : part.begin] for before, part in pairwise(parts)]
    gaps.insert(0, gaps[0] if gaps else ", ")
    items = [
        Item(str(place), text[part.begin : part.end], metadata={"gap": gap} | path_in(part.value, part.key))
        for place, (part, gap) in enumerate(zip(parts, gaps, strict=True), 1)
    ]
    of_strings = all(isinstance(part.value, str) for part in parts)
    keys = array.value if isinstance(array.value, dict) else ()
    return JsonAnswer(items, text[: parts[0].begin], text[parts[-1].end :], location, of_strings, keys)


def array_within(text: str, location: Location) -> JsonAnswer:
    """The answer whose items are those of the array or object that ``location`` leads to."""
    return array_at(text, _reached(text, document(text), location), location)


def _without_note(text: str, root: Part) -> str:
    """The text without the element or the key that `JsonAnswer.render` puts last."""
    if "[firstpage: " not in text:
        return text
    is_object = isinstance(root.value, dict)
    parts = list((members if is_object else elements)(text, root.start))
    if not parts:
        return text
    last = parts.pop()
    if not _is_note(last.value, is_object) or (is_object and last.key != _free_key([p.key for p in parts])):
        return text
    return text[: parts[-1].end if parts else root.start + 1] + text[root.end - 1 :]


def _free_key(keys: Collection[str]) -> str:
    """The key of the note in an object with these keys."""
    names = chain(["firstpage"], (f"firstpage_{number}" for number in count(2)))
    return next(name for name in names if name not in keys)


def _is_note(value: object, is_member: bool) -> bool:
    if isinstance(value, dict) and not is_member:
        value = value.get("firstpage") if len(value) == 1 else None
    return isinstance(value, str) and NOTE.fullmatch(value) is not None


def _location(array: str) -> Location:
    if array.startswith("/"):
        return tuple(key.replace("~1", "/").replace("~0", "~") for key in array[1:].split("/"))
    return tuple(array.split(".")) if array else ()


def _walk(text: str, root: Part, location: Location) -> Part:
    """The array that keys and positions lead to."""
    part = _reached(text, root, location)
    if not isinstance(part.value, list):
        where = "/".join(("", *location))
        raise InputError(f"the JSON has no array at '{where}'; give the location of an array, or none")
    return part


def _reached(text: str, root: Part, location: Location) -> Part:
    """What keys and positions lead to; of equal keys the last counts, as in `json.loads`."""
    part = root
    for depth, key in enumerate(location):
        inside = {}
        if isinstance(part.value, dict):
            inside = {member.key: member for member in members(text, part.start)}
        elif isinstance(part.value, list):
            inside = {str(place): element for place, element in enumerate(elements(text, part.start))}
        if key not in inside:
            where = "/".join(("", *location[:depth]))
            known = ", ".join(f"'{name}'" for name in list(inside)[:8]) or "nothing"
            raise InputError(
                f"the JSON has no '{key}' at '{where}', only {known}; correct the array's location"
            )
        part = inside[key]
    return part


def _size(part: Part) -> int:
    return part.end - part.start


def _main_object(text: str, root: Part) -> tuple[Part, Location]:
    """The object, or the one of several members inside it that is nine tenths of it."""
    best: tuple[Part, Location] = (root, ())
    part, location = best
    while len(location) < _DEPTH:
        inner = max(members(text, part.start), key=_size, default=part)
        if not isinstance(inner.value, dict) or 10 * _size(inner) < 9 * _size(part) or inner is part:
            break
        part, location = inner, (*location, inner.key)
        if len(inner.value) > 1:
            best = part, location
    return best


def _largest(text: str, root: Part) -> tuple[Part, Location] | None:
    """The array with the most text among those of objects, else among all, that are nested in objects."""
    best: tuple[Part, Location] | None = None
    best_rank = (False, -1)
    waiting: list[tuple[Part, Location]] = [(root, ())]
    while waiting:
        part, location = waiting.pop()
        for member in members(text, part.start):
            inner = (*location, member.key)
            if isinstance(member.value, dict) and len(inner) < _DEPTH:
                waiting.append((member, inner))
            elif isinstance(member.value, list):
                of_objects = bool(member.value) and all(isinstance(value, dict) for value in member.value)
                if (of_objects, member.end - member.start) > best_rank:
                    best, best_rank = (member, inner), (of_objects, member.end - member.start)
    return best
