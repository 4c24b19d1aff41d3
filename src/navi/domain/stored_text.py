"""Texts that both stores can keep.

PostgreSQL refuses NUL characters, and half of a surrogate pair can't be written as UTF-8.
"""

from __future__ import annotations

from navi.domain.errors import InvalidInput


def require_storable(name: str, text: str, longest: int | None = None) -> str:
    """The text, or a refusal that names it. `longest` is counted in characters."""
    if "\x00" in text:
        raise InvalidInput(f"{name} contains a NUL character", hint="remove it and send again")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name} contains half of a surrogate pair, at character {error.start}",
            hint="send whole characters, as valid UTF-8",
        ) from error
    if longest is not None and len(text) > longest:
        raise InvalidInput(
            f"{name} has {len(text):,} characters", hint=f"it may have at most {longest:,}"
        )
    return text
