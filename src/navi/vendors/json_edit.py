"""Edit a JSON text so that only what changes in meaning changes in the text.

Everything else keeps every character: order, indentation, line ends, the spelling of numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, NoReturn

Json = dict[str, Any]

BYTE_ORDER_MARK = "\ufeff"
DECODER = json.JSONDecoder()
BLANK = re.compile(r"[ \t\r\n]*")
INDENTATION = re.compile(r"\n([ \t]+)\S")


def edit(text: str, change: Callable[[Json], None]) -> str:
    """The text after `change` has modified the object in it.

    Raises ValueError, with the reason, if the text is not a JSON object.
    """
    settings = parse(text)
    change(settings)
    if settings == parse(text):
        return text
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    body = text.removeprefix(mark)
    if body.strip():
        start = _skip_blank(body, 0)
        _, stop = DECODER.raw_decode(body, start)
        body = body[:start] + _Editor(body).edit(start, stop, settings) + body[stop:]
    else:
        body = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    if parse(body) != settings:
        raise ValueError("this change would not survive; it may use a name twice in one object")
    return mark + body


def parse(text: str) -> Json:
    """The object in a text; an empty text counts as an empty object."""
    body = text.removeprefix(BYTE_ORDER_MARK)
    try:
        value = json.loads(body, parse_constant=_refuse_constant) if body.strip() else {}
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"it is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _skip_blank(text: str, position: int) -> int:
    match = BLANK.match(text, position)
    return position if match is None else match.end()


@dataclass(frozen=True, slots=True)
class _Element:
    """An item of a list or a member of an object."""

    value: Any
    name: str | None = None
    gap: str = ""
    """What stands before it: blank space, and a comma unless it is the first one."""
    label: str = ""
    """A member's name as it is written, with its colon."""
    start: int | None = None
    """Where the value is in the text; None for a new element."""
    stop: int = 0


class _Editor:
    def __init__(self, text: str) -> None:
        self.text = text
        indentation = INDENTATION.search(text)
        self.unit = indentation[1] if indentation else "  "
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.is_one_line = "\n" not in text.strip() and text.strip() != "{}"

    def edit(self, start: int, stop: int, value: Any) -> str:
        """The text from `start` to `stop`, which is one value, with another value in its place."""
        old = list(self._elements(start)) if self.text[start] in "{[" else []
        if self.text[start] == "{" and isinstance(value, dict):
            new = self._members(old, value)
        elif self.text[start] == "[" and isinstance(value, list):
            new = self._items(old, value)
        else:
            return self._render(value, self._indentation_at(start))
        return self._container(start, stop, old, list(new))

    def _elements(self, position: int) -> Iterator[_Element]:
        """What the list or object that begins at `position` holds."""
        is_object = self.text[position] == "{"
        end = position + 1
        while self.text[begin := self._next(end)] not in "]}":
            name, start = None, begin
            if is_object:
                name, colon = DECODER.raw_decode(self.text, begin)
                start = _skip_blank(self.text, _skip_blank(self.text, colon) + 1)
            value, stop = DECODER.raw_decode(self.text, start)
            gap, label = self.text[end:begin], self.text[begin:start]
            yield _Element(value, name, gap, label, start, stop)
            end = stop

    def _next(self, position: int) -> int:
        """Where the next element begins, or the closing bracket is."""
        position = _skip_blank(self.text, position)
        return _skip_blank(self.text, position + 1) if self.text[position] == "," else position

    def _members(self, old: Sequence[_Element], new: Json) -> Iterator[tuple[_Element, Any]]:
        """The members that the object is to have, each with its value."""
        # Where a name is used twice, readers take the last one.
        last = {element.name: element for element in old}
        for element in old:
            if element.name in new:
                is_read = element is last[element.name]
                yield element, new[element.name] if is_read else element.value
        for name, value in new.items():
            if name not in last:
                yield _Element(value, name, label=f"{json.dumps(name)}: "), value

    def _items(self, old: Sequence[_Element], new: list[Any]) -> Iterator[tuple[_Element, Any]]:
        """The items that the list is to have, each with its value."""
        old_keys = [json.dumps(element.value, sort_keys=True) for element in old]
        new_keys = [json.dumps(value, sort_keys=True) for value in new]
        matcher = SequenceMatcher(None, old_keys, new_keys, autojunk=False)
        for _, start, stop, new_start, new_stop in matcher.get_opcodes():
            values = new[new_start:new_stop]
            yield from zip(old[start:stop], values, strict=False)
            yield from ((_Element(value), value) for value in values[stop - start :])

    def _container(
        self, start: int, stop: int, old: Sequence[_Element], new: Sequence[tuple[_Element, Any]]
    ) -> str:
        """A list or an object with these elements, laid out as it was."""
        first, gap, tail = self._layout(start, stop, old)
        pieces: list[str] = []
        for element, value in new:
            own = element.gap if "," in element.gap else gap
            pieces += [own if pieces else first, element.label]
            if element.start is None:
                indentation = gap.rpartition("\n")[2] if "\n" in gap else None
                pieces.append(self._render(value, indentation))
            elif element.value == value:
                pieces.append(self.text[element.start : element.stop])
            else:
                pieces.append(self.edit(element.start, element.stop, value))
        return self.text[start] + "".join([*pieces, tail if pieces else ""]) + self.text[stop - 1]

    def _layout(self, start: int, stop: int, old: Sequence[_Element]) -> tuple[str, str, str]:
        """What stands before the first element, before a new one, and after the last one."""
        if not old:
            if self.is_one_line:
                return "", ", ", ""
            end = self.newline + self._indentation_at(start)
            return end + self.unit, f",{end}{self.unit}", end
        first, last = old[0].gap, old[-1].gap
        gap = last if len(old) > 1 else f",{first}" if "\n" in first else ", "
        return first, gap, self.text[old[-1].stop : stop - 1]

    def _render(self, value: Any, indentation: str | None) -> str:
        """A new value, on one line unless it is given an indentation."""
        if indentation is None or self.is_one_line:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return (self.newline + indentation).join(lines)

    def _indentation_at(self, position: int) -> str:
        line = self.text[self.text.rfind("\n", 0, position) + 1 : position]
        return line[: len(line) - len(line.lstrip(" \t"))]
