"""The arguments of one call, read with their types.

What is wrong is refused in words that an agent can act on. Models often fill in optional arguments
with null, so null counts as not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from navi.base.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Arguments:
    """`schema` is the tool's own `parameters`: a name that is not in it is refused."""

    values: Mapping[str, Any]
    schema: Mapping[str, Any]

    def __post_init__(self) -> None:
        known = list(self.schema["properties"])
        unknown = sorted(str(name) for name in self.values if name not in known)
        if unknown:
            raise InvalidInput(
                f"unknown argument {unknown[0]!r}", hint=f"the arguments are {', '.join(known)}"
            )

    def choice(self, name: str, options: Sequence[str], default: str | None = None) -> str:
        value = self._value(name, default)
        if value not in options:
            raise InvalidInput(f"unknown {name} {value!r}", hint=f"use one of {', '.join(options)}")
        return str(value)

    def text(self, name: str, default: str | None = None) -> str:
        """Any text, the empty one too."""
        value = self._value(name, default)
        if not isinstance(value, str):
            raise _wrong_type(name, value, "a text")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{name} is not valid Unicode at character {error.start}",
                hint="send whole characters, no half of a surrogate pair",
            ) from error
        return value

    def line(self, name: str, default: str | None = None) -> str:
        """Text that the operating system takes: not blank and without NUL characters."""
        value = self.text(name, default)
        if not value.strip():
            raise InvalidInput(f"{name} is blank", hint=f"say a {name}")
        if "\0" in value:
            raise InvalidInput(f"{name} contains a NUL character", hint="leave it out")
        return value

    def whole_number(
        self, name: str, default: int | None, *, minimum: int | None = None
    ) -> int | None:
        value = self._optional(name, default)
        if value is None:
            return None
        # JSON has one kind of number: some models write 10 as 10.0.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong_type(name, value, "a whole number")
        if minimum is not None and value < minimum:
            raise InvalidInput(f"{name} is {value}", hint=f"the smallest {name} is {minimum}")
        return value

    def seconds(self, name: str, default: float, *, maximum: float) -> float:
        value = self._value(name, default)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise _wrong_type(name, value, "a number of seconds")
        if not 0 < value <= maximum:
            raise InvalidInput(
                f"{name} is {value}", hint=f"it must be more than 0 and at most {maximum:g}"
            )
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise _wrong_type(name, value, "true or false")
        return value

    def text_pairs(self, name: str) -> dict[str, str]:
        """An object whose values are texts; nothing when it is not given."""
        value = self._optional(name, {})
        if not isinstance(value, Mapping):
            raise _wrong_type(name, value, "an object of texts")
        for key, item in value.items():
            if not isinstance(key, str) or not isinstance(item, str):
                raise _wrong_type(f"{name}.{key}", item, "a text")
        return dict(value)

    def _value(self, name: str, default: Any) -> Any:
        value = self._optional(name, default)
        if value is None:
            raise InvalidInput(f"{name} is missing", hint=f"call again with {name}")
        return value

    def _optional(self, name: str, default: Any) -> Any:
        value = self.values.get(name)
        return default if value is None else value


def _wrong_type(name: str, value: object, wanted: str) -> InvalidInput:
    return InvalidInput(f"{name} is of type {type(value).__name__}", hint=f"it must be {wanted}")
