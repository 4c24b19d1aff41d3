"""Cuts messages into passages of about a thousand characters, one for each vector."""

from __future__ import annotations

from hashlib import blake2b

VERSION = 1
"""Increase it when you change how texts are cut: all vectors are then made again."""
LENGTH = 1000
SHORTEST = 500
"""A passage ends at a paragraph, a line, a sentence or a word, but not before this length."""
MOST = 24
"""Per message. The rest is pasted text, which can still be searched by its words."""
ENDS = ("\n\n", "\n", ". ", " ")


def passages(text: str) -> list[str]:
    """The passages of a message. None for a single word, which has too little meaning."""
    text = text.strip()
    if len(text.split(maxsplit=2)) < 2:
        return []
    result: list[str] = []
    while text and len(result) < MOST:
        end = _end(text)
        result.append(text[:end].strip())
        text = text[end:].lstrip()
    return result


def versioned(model: str) -> str:
    """The name of the vectors that a model makes of these passages."""
    return f"{model} passages-{VERSION}"


def digest(passage: str) -> int:
    """A number that identifies a passage's text."""
    data = passage.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _end(text: str) -> int:
    if len(text) <= LENGTH:
        return len(text)
    for separator in ENDS:
        position = text.rfind(separator, SHORTEST, LENGTH)
        if position >= 0:
            return position + len(separator)
    return LENGTH
