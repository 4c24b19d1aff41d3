"""Reads as much as possible of a line that a decoder has rejected.

Agents cut texts in the middle of an emoji, which leaves half a surrogate pair; disks and editors
leave bytes that are not UTF-8; new versions write a number where a text used to be. Repairing is
too slow to do for every line.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

BLANK = b"\xef\xbb\xbf \t\r"
"""Bytes that may precede a line's object: white space and a byte order mark."""

_object_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


def is_whole(line: bytes) -> bool:
    """Whether the line is a complete JSON object."""
    try:
        _object_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            return isinstance(json.loads(line.decode("utf-8-sig", "replace")), dict)
        except (ValueError, RecursionError):
            return False
    return True


def may_be_incomplete(line: bytes) -> bool:
    """Whether the line begins like a JSON object, whose rest the agent may still be writing."""
    return line.lstrip(BLANK).startswith(b"{")


def decode_damaged(
    line: bytes, decoder: msgspec.json.Decoder[T], expendable: frozenset[str]
) -> T | None:
    """Decode as much of the line as possible; None if nothing can be decoded.

    The `expendable` fields are dropped if the line can't be decoded with them: it is better to
    lose a time than a text.
    """
    if not line.lstrip(BLANK).startswith(b"{"):
        return None
    try:
        text = replace_lone_surrogates(line.decode("utf-8-sig", "replace"))
        try:
            return decoder.decode(text)
        except msgspec.ValidationError:
            return decoder.decode(msgspec.json.encode(_without(json.loads(text), expendable)))
    except (ValueError, RecursionError):
        # Not JSON, nested too deeply, or not a record of this agent.
        return None


def replace_lone_surrogates(text: str) -> str:
    """The same JSON with each unpaired surrogate replaced by U+FFFD."""
    plain = json.dumps(json.loads(text), ensure_ascii=False)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _without(value: Any, expendable: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {
            key: _without(item, expendable) for key, item in value.items() if key not in expendable
        }
    if isinstance(value, list):
        return [_without(item, expendable) for item in value]
    return value
