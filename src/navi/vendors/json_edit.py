"""Edits a JSON text without reformatting it.

Everything that doesn't change keeps every character: order, indentation, line ends, numbers.
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
SEPARATOR = re.compile(r"[ \t\r\n]*[,:]?[ \t\r\n]*")
INDENTATION = re.compile(r"\n([ \t]+)\S")


def edit(text: str, change: Callable[[Json], None]) -> str:
    """The text after `change` has modified the object in it.

    Raises ValueError, with the reason, if the text is not a JSON object or can't be edited.
    """
    settings = parse(text)
    change(settings)
    if settings == parse(text):
        return text
    byte_order_mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    body = text.removeprefix(byte_order_mark)
    if body.strip():
        body = _Editor(body).replace_all(settings)
    else:
        body = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    if parse(body) != settings:
        raise ValueError("it can't be edited without changing something else")
    return byte_order_mark + body


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


@dataclass(frozen=True, slots=True)
class _Element:
    """An item of a list or a member of an object."""

    gap: str
    """The text before it: white space, and a comma unless it is the first element."""
    name: str | None
    label: str
    """A member's name as it is written, with its colon; empty for an item."""
    start: int
    stop: int
    value: Any


Target = tuple[_Element | None, str, Any]
"""`(element, label, new_value)`; `element` is None if it has to be added."""


class _Editor:
    def __init__(self, text: str) -> None:
        self.text = text
        indentation = INDENTATION.search(text)
        self.unit = indentation[1] if indentation else "  "
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.is_one_line = "\n" not in text.strip() and text.strip() != "{}"

    def replace_all(self, value: Json) -> str:
        start = self._skip_separator(0)
        _, stop = DECODER.raw_decode(self.text, start)
        return self.text[:start] + self._replace(start, stop, value) + self.text[stop:]

    def _replace(self, start: int, stop: int, value: Any) -> str:
        """The text of the value from `start` to `stop`, edited to hold `value`."""
        opening, closing = self.text[start], self.text[stop - 1]
        kind = {"{": dict, "[": list}.get(opening)
        if kind is None or not isinstance(value, kind):
            return self._render(value, self._indentation_at(start))
        old = list(self._elements(start))
        first, gap, tail = self._layout(start, stop, old)
        pieces: list[str] = []
        targets = self._members(old, value) if opening == "{" else self._items(old, value)
        for element, label, new_value in targets:
            own_gap = element.gap if element and "," in element.gap else gap
            if element is None:
                text = self._render(new_value, gap.rpartition("\n")[2] if "\n" in gap else None)
            elif element.value == new_value:
                text = self.text[element.start : element.stop]
            else:
                text = self._replace(element.start, element.stop, new_value)
            pieces.append((own_gap if pieces else first) + label + text)
        return opening + "".join(pieces) + (tail if pieces else "") + closing

    def _elements(self, position: int) -> Iterator[_Element]:
        """The elements of the list or object that begins at `position`."""
        is_object = self.text[position] == "{"
        end = position + 1
        while self.text[begin := self._skip_separator(end)] not in "]}":
            name, start = None, begin
            if is_object:
                name, colon = DECODER.raw_decode(self.text, begin)
                start = self._skip_separator(colon)
            value, stop = DECODER.raw_decode(self.text, start)
            yield _Element(self.text[end:begin], name, self.text[begin:start], start, stop, value)
            end = stop

    def _members(self, old: Sequence[_Element], new: Json) -> Iterator[Target]:
        # If a name occurs twice, readers use the last one.
        last_by_name = {element.name: element for element in old}
        for element in old:
            if element.name in new:
                is_last = element is last_by_name[element.name]
                yield element, element.label, new[element.name] if is_last else element.value
        for name in [name for name in new if name not in last_by_name]:
            yield None, f"{json.dumps(name)}: ", new[name]

    def _items(self, old: Sequence[_Element], new: list[Any]) -> Iterator[Target]:
        old_keys = [json.dumps(element.value, sort_keys=True) for element in old]
        new_keys = [json.dumps(value, sort_keys=True) for value in new]
        matcher = SequenceMatcher(None, old_keys, new_keys, autojunk=False)
        for _, start, stop, new_start, new_stop in matcher.get_opcodes():
            for offset, value in enumerate(new[new_start:new_stop]):
                yield old[start + offset] if start + offset < stop else None, "", value

    def _layout(self, start: int, stop: int, old: Sequence[_Element]) -> tuple[str, str, str]:
        """The text before the first element, before a new one, and after the last one."""
        if old:
            first, last = old[0].gap, old[-1].gap
            gap = last if len(old) > 1 else f",{first}" if "\n" in first else ", "
            return first, gap, self.text[old[-1].stop : stop - 1]
        if self.is_one_line:
            return "", ", ", ""
        tail = self.newline + self._indentation_at(start)
        return tail + self.unit, f",{tail}{self.unit}", tail

    def _render(self, value: Any, indentation: str | None) -> str:
        """The text of a new value, on one line if `indentation` is None."""
        if indentation is None or self.is_one_line:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return (self.newline + indentation).join(lines)

    def _indentation_at(self, position: int) -> str:
        line = self.text[self.text.rfind("\n", 0, position) + 1 : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _skip_separator(self, position: int) -> int:
        match = SEPARATOR.match(self.text, position)
        return match.end() if match else position
