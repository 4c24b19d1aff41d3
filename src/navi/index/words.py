"""How texts become words that can be found: the same way when writing and when asking.

The field `text` holds every run of letters and digits, in lower case and without accents. So
`auth_handler` is `auth` next to `handler`, and `Müller` is found by `muller` too. There are no
stop-words and no stems: what was written can be found.

The field `parts` adds what such runs hide: the words inside `AuthHandler`, and the characters of
scripts that put no space between words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

LONGEST_NAME = 200
"""Characters. What is longer is no identifier but data, and its pieces mean nothing."""

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b"  # Han radicals and signs
    "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_HUMPS = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
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


def words_of(text: str) -> list[str]:
    """The words of a text or a question, as the index has them."""
    return folded_analyzer().analyze(" ".join(_analyzer().analyze(composed(text))))


@cache
def _analyzer() -> TextAnalyzer:
    return (
        TextAnalyzerBuilder(Tokenizer.simple())
        .filter(Filter.lowercase())
        .filter(Filter.ascii_fold())
        .build()
    )


@cache
def folded_analyzer() -> TextAnalyzer:
    """For what `folded` went over: it has nothing left to fold."""
    return TextAnalyzerBuilder(Tokenizer.simple()).build()


def folded(text: bytes) -> tuple[str, str]:
    """An UTF-8 text, ready for `folded_analyzer`, and its hidden parts likewise.

    Nearly all texts are plain ASCII, for which Python folds in a third of the time.
    """
    if text.isascii():
        return text.lower().decode("ascii"), _inner_words(text)
    whole = composed(text.decode())
    return " ".join(_analyzer().analyze(whole)), " ".join(_analyzer().analyze(parts(whole)))


def composed(text: str) -> str:
    """An accent written as a character of its own would cut its word in two."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def encodable(text: str) -> str:
    """Without halves of surrogate pairs, such as those of an argument that is no text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def parts(text: str) -> str:
    """What the words of `text` hide, as words of their own; often nothing."""
    inner = _inner_words(text.encode("ascii", "replace"))
    return f"{spaced(text)} {inner}" if is_unspaced(text) else inner


def is_unspaced(text: str) -> bool:
    return not text.isascii() and _unspaced().search(text) is not None


@cache
def _unspaced() -> re.Pattern[str]:
    """Made only for a text that may need it: it takes as long as a search."""
    return re.compile(f"[{UNSPACED}]")


def spaced(text: str) -> str:
    """Each character of an unspaced script as a word: a phrase of them finds any piece of text."""
    return _unspaced().sub(lambda found: f" {found[0]} ", text)


def humps(word: str) -> str:
    """`HTTPServerError` -> `HTTP Server Error`."""
    return " ".join(_HUMPS.findall(word))


def _inner_words(text: bytes) -> str:
    # Classes of bytes, found by the C library: three times as quick as a pattern over the text.
    classes = text.translate(_CLASSES)
    if b"aA" not in classes and b"AAa" not in classes:
        return ""
    found = dict.fromkeys(_humped(text, classes, b"aA"))
    found.update(dict.fromkeys(_humped(text, classes, b"AAa")))
    return " ".join(map(_lower_humps, found))


@lru_cache(maxsize=65_536)
def _lower_humps(word: bytes) -> str:
    return humps(word.decode("ascii")).lower()


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
