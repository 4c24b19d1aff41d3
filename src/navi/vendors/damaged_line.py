"""What can still be read of a line that no longer decodes.

Clients cut texts in the middle of an emoji and write what is left as half a surrogate pair; disks
and editors leave bytes that are no UTF-8; versions write a number where a text used to be. Such a
line is mended here, slowly, so that reading the others stays fast.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

BLANK = b"\xef\xbb\xbf \t\r"
"""What may stand before a line's value: white space and a byte order mark."""

_objects = msgspec.json.Decoder(dict[str, msgspec.Raw])


def is_whole(line: bytes) -> bool:
    """Whether the line is a JSON object from beginning to end."""
    try:
        _objects.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            return isinstance(json.loads(line.decode("utf-8-sig", "replace")), dict)
        except (ValueError, RecursionError):
            return False
    return True


def may_be_half(line: bytes) -> bool:
    """Whether the line can be the beginning of one that is still being written."""
    return line.lstrip(BLANK).startswith(b"{")


def repaired(line: bytes, decoder: msgspec.json.Decoder[T], doubtful: frozenset[str]) -> T | None:
    """The line as far as it can be read; None if it can't.

    `doubtful` names the fields that are left out if the line can't be read with them: it is better
    to miss a time than a text.
    """
    if not line.lstrip(BLANK).startswith(b"{"):
        return None
    try:
        text = replace_lone_surrogates(line.decode("utf-8-sig", "replace"))
        try:
            return decoder.decode(text)
        except msgspec.ValidationError:
            return decoder.decode(msgspec.json.encode(_without(json.loads(text), doubtful)))
    except (ValueError, RecursionError):
        # Not JSON, nested too deeply, or of a shape that says nothing to us.
        return None


def replace_lone_surrogates(text: str) -> str:
    """The same JSON with every half of a surrogate pair replaced by the sign for what is lost."""
    plain = json.dumps(json.loads(text), ensure_ascii=False)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _without(value: Any, doubtful: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(each, doubtful) for key, each in value.items() if key not in doubtful}
    if isinstance(value, list):
        return [_without(each, doubtful) for each in value]
    return value
