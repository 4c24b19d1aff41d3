"""Foreign bytes as text that can be shown and stored."""

from __future__ import annotations

import codecs

# Enough to tell a picture from a page; a NUL further on is merely shown as a mark.
SAMPLE_BYTES = 8192
# A page in an old 8-bit encoding has a few undecodable bytes, compressed data has mostly such.
BINARY_SHARE = 0.15
MARK = "\N{REPLACEMENT CHARACTER}"


def readable(data: bytes, charset: str = "utf-8", *, is_whole: bool = True) -> str:
    """Never fails: what can't be decoded becomes a mark. `is_whole=False` says that the data was
    cut somewhere, so that half a character at its end is dropped."""
    decoder = codecs.getincrementaldecoder(charset)(errors="replace")
    # PostgreSQL keeps no NUL in its texts.
    return decoder.decode(data, final=is_whole).replace("\0", MARK)


def is_binary(data: bytes, charset: str = "utf-8") -> bool:
    """Whether the beginning of `data` says that nobody could read it as text."""
    sample = data[:SAMPLE_BYTES]
    # The wide character sets are full of NUL bytes.
    if b"\0" in sample and not charset.startswith(("utf-16", "utf-32")):
        return True
    text = readable(sample, charset, is_whole=False)
    unreadable = sum(not (char.isprintable() or char.isspace()) or char == MARK for char in text)
    return unreadable > BINARY_SHARE * len(text)


def describe_binary(data: bytes) -> str:
    """How binary data begins, which is where most formats say their name."""
    return f"it begins with {data[:16].hex(' ')}"


def one_line(text: str) -> str:
    """A name or a header as it is, except that it can't break out of its line."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
