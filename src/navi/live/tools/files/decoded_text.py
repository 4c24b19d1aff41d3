"""Turns bytes of any origin into text that can be shown and stored."""

from __future__ import annotations

import codecs

# Enough to tell an image from text. NULs after the sample are replaced.
SAMPLE_BYTES = 8192
# Text in an old 8-bit encoding has a few undecodable bytes; compressed data
# consists of little else.
BINARY_SHARE = 0.15
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def decode(data: bytes, charset: str = "utf-8", *, is_whole: bool = True) -> str:
    """Decode the data. Never fails: undecodable bytes become replacement characters.

    `is_whole=False` means that the data was cut, so half a character at its end is dropped.
    """
    decoder = codecs.getincrementaldecoder(charset)(errors="replace")
    # PostgreSQL can't store NUL in text.
    return decoder.decode(data, final=is_whole).replace("\0", REPLACEMENT)


def is_binary(data: bytes, charset: str = "utf-8") -> bool:
    """Whether the start of `data` is unreadable as text."""
    sample = data[:SAMPLE_BYTES]
    # Text in UTF-16 and UTF-32 is full of NUL bytes.
    if b"\0" in sample and not charset.startswith(("utf-16", "utf-32")):
        return True
    text = decode(sample, charset, is_whole=False)
    unreadable = sum(
        not (char.isprintable() or char.isspace()) or char == REPLACEMENT for char in text
    )
    return unreadable > BINARY_SHARE * len(text)


def describe_binary(data: bytes) -> str:
    """The first bytes of binary data, which identify most formats."""
    return f"it begins with {data[:16].hex(' ')}"


def one_line(text: str) -> str:
    """The text with unprintable characters escaped, so that it can't break out of its line."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
