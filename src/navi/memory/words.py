"""How texts become words that can be found: the same way when writing and when asking.

The field `text` holds every run of letters and digits, in lower case and without accents. So
`auth_handler` is `auth` next to `handler`, and `Müller` is found by `muller` too. There are no
stop-words and no stems: what was written can be found.

The field `parts` adds what such runs hide: the words inside `AuthHandler`, and the characters of
scripts that put no space between words. Emoji are there too, each as a word of letters and digits,
and not in `text`: words with an emoji between them stand side by side.
"""

from __future__ import annotations

import re

from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b"  # Han radicals and signs
    "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
EMOJI = "\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
"""And other pictures; without the colours of skin, so that all hands are found by the plain one."""
HUMPS = "[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+"
"""The words inside `HTTPServerError`."""
ANALYZER = (
    TextAnalyzerBuilder(Tokenizer.simple())
    .filter(Filter.lowercase())
    .filter(Filter.ascii_fold())
    .build()
)
FOLDED_ANALYZER = TextAnalyzerBuilder(Tokenizer.simple()).build()
"""For what is folded already: in the index, that is everything."""


def words_of(text: str) -> list[str]:
    """The words of a text or a question, as the index has them."""
    return FOLDED_ANALYZER.analyze(" ".join(ANALYZER.analyze(composed(text))))


def composed(text: str) -> str:
    """An accent written as a character of its own would cut its word in two."""
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)


def encodable(text: str) -> str:
    """Without halves of surrogate pairs, such as those of an argument that is no text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def is_unspaced(text: str) -> bool:
    return not text.isascii() and _unspaced().search(text) is not None


def _unspaced() -> re.Pattern[str]:
    """Made only for a text that may need it: it takes as long as a search."""
    return re.compile(f"[{UNSPACED}]")


def emoji_in(text: str) -> list[str]:
    if text.isascii():
        return []
    return re.findall(f"[{EMOJI}]", text)


def emoji_word(emoji: str) -> str:
    """As the field `parts` has it: pictures are not letters, and would be left out."""
    return f"emoji{ord(emoji):x}"


def spaced(text: str) -> str:
    """Each character of an unspaced script as a word: a phrase of them finds any piece of text."""
    return _unspaced().sub(lambda found: f" {found[0]} ", text)


def humps(word: str) -> str:
    """`HTTPServerError` -> `HTTP Server Error`."""
    if word.isascii() and word.isalpha() and word.islower():
        return word  # most words have none
    return " ".join(re.findall(HUMPS, word))
