"""Bytes from anywhere as text that can be shown and stored."""

from __future__ import annotations

import codecs

# Enough to tell an image from a page. A NUL after these bytes is replaced.
SAMPLE_BYTES = 8192
# A page in an old 8-bit encoding has a few undecodable bytes; compressed data has little else.
BINARY_SHARE = 0.15
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def readable(data: bytes, charset: str = "utf-8", *, is_whole: bool = True) -> str:
    """The data as text. It never fails: undecodable bytes become replacement characters.

    `is_whole=False` means that the data was cut, so half a character at its end is dropped.
    """
    decoder = codecs.getincrementaldecoder(charset)(errors="replace")
    # PostgreSQL can't store NUL in text.
    return decoder.decode(data, final=is_whole).replace("\0", REPLACEMENT)


def is_binary(data: bytes, charset: str = "utf-8") -> bool:
    """Whether `data` starts like something that can't be read as text."""
    sample = data[:SAMPLE_BYTES]
    # The wide character sets are full of NUL bytes.
    if b"\0" in sample and not charset.startswith(("utf-16", "utf-32")):
        return True
    text = readable(sample, charset, is_whole=False)
    unreadable = sum(
        not (char.isprintable() or char.isspace()) or char == REPLACEMENT for char in text
    )
    return unreadable > BINARY_SHARE * len(text)


def describe_binary(data: bytes) -> str:
    """How binary data begins, which identifies most formats."""
    return f"it begins with {data[:16].hex(' ')}"


def one_line(text: str) -> str:
    """A name or header with everything unprintable escaped, so it can't break out of its line."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
