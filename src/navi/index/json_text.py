"""A JSON text in which a list is changed in place, and nothing else by a single character."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class NotJson(ValueError):
    pass


class Span(NamedTuple):
    start: int
    stop: int


class Member(NamedTuple):
    name: str
    key: Span
    value: Span


_BLANK = re.compile(r"[ \t\r\n\ufeff]*+")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_SCALAR = re.compile(r"[-+0-9.eEA-Za-z]++")


class JsonText:
    def __init__(self, text: str) -> None:
        self.text = text

    def with_items(self, path: Sequence[str], items: Sequence[str]) -> JsonText:
        """With these texts at the end of the list at `path`; what is missing there is made."""
        value = self._value(_BLANK.match(self.text, 0).end())  # type: ignore[union-attr]
        for depth, name in enumerate(path):
            found = [member for member in self._members(value) if member.name == name]
            if not found:
                return self._with_member(value, path[depth:], items)
            # As every reader does: the last one of the same name counts.
            value = found[-1].value
        return self._with_list_items(
            value, [json.dumps(item, ensure_ascii=False) for item in items]
        )

    def without_item(self, path: Sequence[str], item: str) -> JsonText:
        """Without the last appearance of that text in the list at `path`, if there is one."""
        value = self._value(_BLANK.match(self.text, 0).end())  # type: ignore[union-attr]
        for name in path:
            found = [member for member in self._members(value) if member.name == name]
            if not found:
                return self
            value = found[-1].value
        items = list(self._items(value))
        for place in range(len(items) - 1, -1, -1):
            if json.loads(self.text[items[place].start : items[place].stop]) == item:
                return JsonText(self._without(value, items, place))
        return self

    def _without(self, value: Span, items: list[Span], place: int) -> str:
        if place > 0:
            start, stop = items[place - 1].stop, items[place].stop
        elif len(items) > 1:
            start, stop = items[0].start, items[1].start
        else:
            start, stop = value.start + 1, value.stop - 1
        return self.text[:start] + self.text[stop:]

    def _with_list_items(self, value: Span, items: Sequence[str]) -> JsonText:
        if self.text[value.start] != "[":
            raise NotJson("it has something else where a list should be")
        present = list(self._items(value))
        if present:
            between = self._between(present, value)
            added = "".join(f",{between}{item}" for item in items)
            return self._inserted(present[-1].stop, present[-1].stop, added)
        newline, unit, outer = self._layout(value)
        inner = f"{newline}{outer}{unit}"
        added = (
            inner + f",{inner}".join(items) + f"{newline}{outer}" if newline else ", ".join(items)
        )
        return self._inserted(value.start + 1, value.stop - 1, added)

    def _between(self, present: list[Span], value: Span) -> str:
        """The blank space that this list has in front of its items."""
        if len(present) > 1:
            gap = self.text[present[-2].stop : present[-1].start]
            return gap.replace(",", "", 1) if gap.strip(" \t\r\n,") == "" else " "
        gap = self.text[value.start + 1 : present[0].start]
        return gap if "\n" in gap else " "

    def _with_member(self, value: Span, path: Sequence[str], items: Sequence[str]) -> JsonText:
        if self.text[value.start] != "{":
            raise NotJson("it has something else where an object should be")
        members = list(self._members(value))
        newline, unit, outer = self._layout(value)
        made = self._made(path, items, newline, unit, outer + unit)
        if members:
            between = self.text[value.start + 1 : members[0].key.start]
            return self._inserted(
                members[-1].value.stop, members[-1].value.stop, f",{between}{made}"
            )
        inner = f"{newline}{outer}{unit}{made}{newline}{outer}" if newline else made
        return self._inserted(value.start + 1, value.stop - 1, inner)

    def _made(
        self, path: Sequence[str], items: Sequence[str], newline: str, unit: str, indent: str
    ) -> str:
        name = json.dumps(path[0])
        if len(path) > 1:
            inner = self._made(path[1:], items, newline, unit, indent + unit)
            pieces, opening, closing = [inner], "{", "}"
        else:
            pieces, opening, closing = (
                [json.dumps(item, ensure_ascii=False) for item in items],
                "[",
                "]",
            )
        if not newline:
            return f"{name}: {opening}{', '.join(pieces)}{closing}"
        line = f"{newline}{indent}"
        content = f",{line}{unit}".join(pieces)
        return f"{name}: {opening}{line}{unit}{content}{line}{closing}"

    def _layout(self, value: Span) -> tuple[str, str, str]:
        """The line end, one step of indentation, and the indentation of the line a value is in."""
        newline = "\r\n" if "\r\n" in self.text else "\n" if "\n" in self.text.strip() else ""
        unit = re.search(r"\n([ \t]+)\S", self.text)
        line_start = self.text.rfind("\n", 0, value.start) + 1
        outer = _INDENTATION.match(self.text, line_start)
        return newline, unit[1] if unit else "  ", outer[0] if outer else ""

    def _inserted(self, start: int, stop: int, added: str) -> JsonText:
        return JsonText(self.text[:start] + added + self.text[stop:])

    def _members(self, value: Span) -> Iterator[Member]:
        if self.text[value.start] != "{":
            raise NotJson("it has something else where an object should be")
        at = self._blank(value.start + 1)
        while self.text[at] != "}":
            key = self._value(at)
            at = self._blank(key.stop) + 1
            inner = self._value(self._blank(at))
            yield Member(json.loads(self.text[key.start : key.stop]), key, inner)
            at = self._blank(inner.stop)
            at = self._blank(at + 1) if self.text[at] == "," else at

    def _items(self, value: Span) -> Iterator[Span]:
        at = self._blank(value.start + 1)
        while self.text[at] != "]":
            inner = self._value(at)
            yield inner
            at = self._blank(inner.stop)
            at = self._blank(at + 1) if self.text[at] == "," else at

    def _value(self, at: int) -> Span:
        """Where the value that begins at `at` ends. The text is known to be valid JSON."""
        if self.text[at] == '"':
            return Span(at, self._end(_STRING, at))
        if self.text[at] not in "[{":
            return Span(at, self._end(_SCALAR, at))
        depth, place = 0, at
        while True:
            sign = self.text[place]
            if sign == '"':
                place = self._end(_STRING, place)
                continue
            depth += (sign in "[{") - (sign in "]}")
            place += 1
            if depth == 0:
                return Span(at, place)

    def _blank(self, at: int) -> int:
        return self._end(_BLANK, at)

    def _end(self, pattern: re.Pattern[str], at: int) -> int:
        found = pattern.match(self.text, at)
        if found is None:
            raise NotJson("it is not valid JSON")
        return found.end()


_INDENTATION = re.compile(r"[ \t]*")
