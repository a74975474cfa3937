"""A JSON array, or a JSON object with one inside: issue lists, search results, API answers.

An item is an element of the array, kept as it was written, and so is all text around the array: a page
with all items is the answer itself. Without being told, the array is the one with the most text among
those of objects (else among all) that are nested in objects, at most 32 deep. A JSON object without an
array has no items and stays whole.

The note is one more element of an answer that is an array (``{"firstpage": note}``, or a string among
strings), and one more key ``firstpage`` of an answer that is an object. An element is never split.
"""

import json
from collections.abc import Sequence
from itertools import pairwise

from ..errors import InputError
from ..items import Item
from ._json import BLANK, Part, document, elements, members, path_in
from .answer import NOTE, Answer

Location = tuple[str, ...]

_DEPTH = 32


class JsonAnswer(Answer):
    """The elements of one array in a JSON text.

    Args:
        items: the elements.
        header: the text before them.
        footer: the text after them.
        location: keys and positions that lead to the array.
        of_strings: whether the elements are strings.
    """

    form = "json"

    def __init__(
        self,
        items: Sequence[Item],
        header: str,
        footer: str,
        location: Location = (),
        of_strings: bool = False,
    ) -> None:
        self.items, self.header, self.footer = items, header, footer
        self.location, self.of_strings = location, of_strings

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
            return f'"firstpage": {text}'
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
    found = (root, ()) if isinstance(root.value, list) else _largest(text, root)
    return array_at(text, *found) if found else JsonAnswer([], text[: root.end - 1], text[root.end - 1 :])


def looks_like_json(sample: str) -> bool:
    """Whether it starts as an array or an object does."""
    return sample.lstrip(BLANK).startswith(("{", "["))


def array_at(text: str, array: Part, location: Location) -> JsonAnswer:
    """The answer whose items are the elements of this array in the text."""
    parts = list(elements(text, array.start))
    if not parts:
        return JsonAnswer([], text[: array.start + 1], text[array.start + 1 :], location)
    gaps = [text[before.end : part.start] for before, part in pairwise(parts)]
    gaps.insert(0, gaps[0] if gaps else ", ")
    items = [
        Item(str(place), text[part.start : part.end], metadata={"gap": gap} | path_in(part.value))
        for place, (part, gap) in enumerate(zip(parts, gaps, strict=True), 1)
    ]
    of_strings = all(isinstance(part.value, str) for part in parts)
    return JsonAnswer(items, text[: parts[0].start], text[parts[-1].end :], location, of_strings)


def array_within(text: str, location: Location) -> JsonAnswer:
    """The answer whose items are the elements of the array that ``location`` leads to."""
    return array_at(text, _walk(text, document(text), location), location)


def _without_note(text: str, root: Part) -> str:
    """The text without the element or the key that `JsonAnswer.render` puts last."""
    if "[firstpage: " not in text:
        return text
    parts = list((members if isinstance(root.value, dict) else elements)(text, root.start))
    if not parts or not _is_note(parts[-1], isinstance(root.value, dict)):
        return text
    kept = parts[-2].end if len(parts) > 1 else root.start + 1
    return text[:kept] + text[root.end - 1 :]


def _is_note(part: Part, is_member: bool) -> bool:
    value = part.value
    if is_member:
        value = value if part.key == "firstpage" else None
    elif isinstance(value, dict):
        value = value.get("firstpage") if len(value) == 1 else None
    return isinstance(value, str) and NOTE.fullmatch(value) is not None


def _location(array: str) -> Location:
    if array.startswith("/"):
        return tuple(key.replace("~1", "/").replace("~0", "~") for key in array[1:].split("/"))
    return tuple(array.split(".")) if array else ()


def _walk(text: str, root: Part, location: Location) -> Part:
    """The array that keys and positions lead to; of equal keys the last counts, as in `json.loads`."""
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
    if not isinstance(part.value, list):
        where = "/".join(("", *location))
        raise InputError(f"the JSON has no array at '{where}'; give the location of an array, or none")
    return part


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
