"""Texts, made ready for the index. `words.py` says what the fields hold.

Only who writes needs it: a question has few words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from navi.memory.words import ANALYZER, HUMPS, composed, emoji_in, emoji_word, is_unspaced, spaced

LONGEST_NAME = 200
"""Characters. What is longer is no identifier but data, and its pieces mean nothing."""

_humps = re.compile(HUMPS.encode()).findall
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
    """An UTF-8 text, ready for `FOLDED_ANALYZER`, and its hidden parts likewise.

    Nearly all texts are plain ASCII, for which Python folds in a third of the time.
    """
    if text.isascii():
        return text.lower().decode("ascii"), _inner_words(text)
    whole = composed(text.decode())
    return " ".join(ANALYZER.analyze(whole)), " ".join(ANALYZER.analyze(parts(whole)))


def parts(text: str) -> str:
    """What the words of `text` hide, as words of their own; often nothing."""
    found = _inner_words(text.encode("ascii", "replace"))
    if pictures := emoji_in(text):
        found = " ".join([*map(emoji_word, pictures), found])
    return f"{spaced(text)} {found}" if is_unspaced(text) else found


def _inner_words(text: bytes) -> str:
    # Classes of bytes, found by the C library: three times as quick as a pattern over the text.
    classes = text.translate(_CLASSES)
    if b"aA" not in classes and b"AAa" not in classes:
        return ""
    names = dict.fromkeys(_humped(text, classes, b"aA"))
    names.update(dict.fromkeys(_humped(text, classes, b"AAa")))
    return b" ".join(_humps(b" ".join(names))).lower().decode("ascii")


def _humped(text: bytes, classes: bytes, seam: bytes) -> Iterator[bytes]:
    """Every word that holds the seam."""
    place = classes.find(seam)
    while place >= 0:
        start = classes.rfind(b" ", 0, place) + 1
        end = classes.find(b" ", place)
        if end < 0:
            end = len(classes)
        if end - start <= LONGEST_NAME:
            yield text[start:end]
        place = classes.find(seam, end)
