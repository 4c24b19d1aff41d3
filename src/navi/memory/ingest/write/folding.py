"""Prepares texts for the full-text index, quickly. `words.py` describes the fields."""

from __future__ import annotations

import re
from collections.abc import Iterator

from navi.memory.words import (
    ANALYZER,
    CAMEL_CASE_WORD,
    composed,
    emoji_in,
    emoji_word,
    has_unspaced,
    spaced,
)

LONGEST_NAME = 200
"""Longer words are data, not identifiers, and their parts mean nothing."""
SIGNS = "\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u25ff"
"""Dashes, quotation marks, bullets, arrows, lines: they only separate words. No emoji."""

_signs = re.compile(f"[{SIGNS}]")
_camel_case_words = re.compile(CAMEL_CASE_WORD.encode()).findall
_LOWER, _UPPER, _DIGIT, _OTHER = b"aA1 "
_CLASSES = bytes(
    _LOWER
    if 97 <= code <= 122
    else _UPPER
    if 65 <= code <= 90
    else _DIGIT
    if 48 <= code <= 57
    else _OTHER
    for code in range(256)
)


def folded(text: bytes) -> tuple[str, str]:
    """The fields `text` and `parts` of a UTF-8 text, both ready for `FOLDED_ANALYZER`.

    Apart from a few signs, nearly all texts are plain ASCII, which Python folds far faster than
    the analyzer.
    """
    if not text.isascii():
        text = _signs.sub(" ", text.decode()).encode()
    if text.isascii():
        return text.lower().decode("ascii"), _inner_words(text)
    whole = composed(text.decode())
    return " ".join(ANALYZER.analyze(whole)), " ".join(ANALYZER.analyze(parts(whole)))


def parts(text: str) -> str:
    """The field `parts` of `text`, before analysis; often empty."""
    inner_words = _inner_words(text.encode("ascii", "replace"))
    if emoji := emoji_in(text):
        inner_words = " ".join([*map(emoji_word, emoji), inner_words])
    return f"{spaced(text)} {inner_words}" if has_unspaced(text) else inner_words


def _inner_words(text: bytes) -> str:
    # Searching byte classes is three times as fast as matching a pattern.
    classes = text.translate(_CLASSES)
    if b"aA" not in classes and b"AAa" not in classes:
        return ""
    names = dict.fromkeys(_words_with_seam(text, classes, b"aA"))
    names.update(dict.fromkeys(_words_with_seam(text, classes, b"AAa")))
    return b" ".join(_camel_case_words(b" ".join(names))).lower().decode("ascii")


def _words_with_seam(text: bytes, classes: bytes, seam: bytes) -> Iterator[bytes]:
    """Every word whose classes contain `seam`: a change of case, as in `aA` or `AAa`."""
    position = classes.find(seam)
    while position >= 0:
        start = classes.rfind(b" ", 0, position) + 1
        end = classes.find(b" ", position)
        if end < 0:
            end = len(classes)
        if end - start <= LONGEST_NAME:
            yield text[start:end]
        position = classes.find(seam, end)
