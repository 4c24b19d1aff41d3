"""Reads query parameters: numbers, flags, a time zone."""

from __future__ import annotations

from datetime import tzinfo

from starlette.requests import Request

from navi.base.errors import InvalidInput
from navi.base.timezone import parse_timezone


def timezone(request: Request) -> tzinfo | None:
    """The reader's time zone, from the parameter `tz`; None if omitted."""
    name = request.query_params.get("tz")
    return parse_timezone(name) if name else None


def flag(request: Request, name: str) -> bool:
    """A parameter that is true or false; false if omitted."""
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise InvalidInput(
            f"{name} must be true or false, not {text[:40]!r}",
            hint=f"write ?{name}=true, or leave it out",
        )
    return text == "true"


def seconds(request: Request, name: str) -> float:
    """A number of seconds to wait; 0 if omitted or negative."""
    text = request.query_params.get(name)
    if text is None:
        return 0.0
    return float(max(0, whole_number(name, text)))


def number(request: Request, name: str, default: int) -> int:
    value = optional_number(request, name)
    return default if value is None else value


def optional_number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    return None if text is None else whole_number(name, text)


def limit(request: Request) -> int | None:
    value = optional_number(request, "limit")
    if value is not None and value < 0:
        raise InvalidInput(f"limit must be 0 or more, not {value}", hint="like ?limit=100")
    return value


def whole_number(name: str, text: str) -> int:
    if len(text) > 18 or not text.removeprefix("-").isdecimal() or not text.isascii():
        raise InvalidInput(
            f"{name} must be a whole number, not {text[:40]!r}", hint=f"like ?{name}=42"
        )
    return int(text)
