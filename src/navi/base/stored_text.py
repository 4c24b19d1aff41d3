"""Checks that text can be stored in both databases and shown in any terminal.

PostgreSQL rejects NUL characters, and a lone surrogate can't be encoded as UTF-8.
"""

from __future__ import annotations

from navi.base.control_characters import CONTROL_CHARACTER
from navi.base.errors import InvalidInput


def require_storable(name: str, text: str, longest: int | None = None) -> str:
    """Return `text` if it can be stored; otherwise raise an error that refers to it as `name`.

    `longest` is the maximum length in characters.
    """
    if "\x00" in text:
        raise InvalidInput(f"{name} contains a NUL character", hint="remove it and try again")
    require_unicode(name, text)
    if longest is not None and len(text) > longest:
        raise InvalidInput(
            f"{name} has {len(text):,} characters", hint=f"it may have at most {longest:,}"
        )
    return text


def require_unicode(name: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name} contains half of a surrogate pair, at character {error.start}",
            hint="send whole characters, as valid UTF-8",
        ) from error
    return text


def require_printable(name: str, text: str, longest: int) -> str:
    """For short text that is shown in lists: no control characters except newlines and tabs."""
    require_storable(name, text, longest)
    if match := CONTROL_CHARACTER.search(text):
        raise InvalidInput(
            f"{name} contains the control character U+{ord(match[0]):04X}, "
            f"at character {match.start()}",
            hint="remove it and try again; letters, symbols and emoji are fine",
        )
    return text


def require_line(name: str, text: str, longest: int) -> str:
    """For names: one line of printable text."""
    require_printable(name, text, longest)
    if "\n" in text or "\t" in text:
        raise InvalidInput(
            f"{name} contains a line break or a tab", hint="write it on one line, with spaces"
        )
    return text
