"""How texts become searchable words; the same for the index and for queries.

The field `text` has all sequences of letters and digits, in lower case and without accents. So
`auth_handler` is `auth` next to `handler`, and `muller` finds `Müller` too. There are no stop words
and no stemming: everything can be found as it was written.

The field `parts` adds the words inside these sequences, such as those of `AuthHandler`, and single
characters of scripts without spaces between words. It also has emoji, each as a word of letters and
digits. Emoji are not in `text`, so words with an emoji between them are still neighbours.
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
"""Emoji and other pictographs. Without skin tones, so that a hand of any tone is found."""
CAMEL_CASE_WORD = "[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+"
"""Matches each word inside `HTTPServerError`."""
ANALYZER = (
    TextAnalyzerBuilder(Tokenizer.simple())
    .filter(Filter.lowercase())
    .filter(Filter.ascii_fold())
    .build()
)
FOLDED_ANALYZER = TextAnalyzerBuilder(Tokenizer.simple()).build()
"""For text that is already folded: in lower case and without accents."""


def words_of(text: str) -> list[str]:
    """The words of a text or a query, as the index has them."""
    return FOLDED_ANALYZER.analyze(" ".join(ANALYZER.analyze(composed(text))))


def composed(text: str) -> str:
    """Join accents to their letters: an accent on its own would split its word."""
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)


def encodable(text: str) -> str:
    """Replace halves of surrogate pairs, as in a command-line argument that is not UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def has_unspaced(text: str) -> bool:
    """Whether the text has characters of a script without spaces between words."""
    return not text.isascii() and _unspaced().search(text) is not None


def _unspaced() -> re.Pattern[str]:
    # Compiled only when needed: it takes as long as a search.
    return re.compile(f"[{UNSPACED}]")


def emoji_in(text: str) -> list[str]:
    if text.isascii():
        return []
    return re.findall(f"[{EMOJI}]", text)


def emoji_word(emoji: str) -> str:
    """How the field `parts` spells an emoji: the analyzer keeps only letters and digits."""
    return f"emoji{ord(emoji):x}"


def spaced(text: str) -> str:
    """Make each character of an unspaced script a word, so that a phrase can match any part."""
    return _unspaced().sub(lambda match: f" {match[0]} ", text)


def split_camel_case(word: str) -> str:
    """`HTTPServerError` -> `HTTP Server Error`."""
    if word.isascii() and word.isalpha() and word.islower():
        return word  # most words are plain
    return " ".join(re.findall(CAMEL_CASE_WORD, word))
