"""One kind of secret: what it looks like, and an example."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

SHORTEST_WORD = 16
"""The length in characters of the shortest secret with `is_one_word`."""


class SecretKind(NamedTuple):
    name: str
    needles: tuple[str, ...]
    """Every text with such a secret contains one of these."""
    expression: str
    """The group `secret` is masked, or the whole match if there is no such group."""
    example: str
    ignores_case: bool = False
    """If so, the needles are in lower case, and `may_be_in` needs lower-case text."""
    is_one_word: bool = False
    """The secret contains no white space, so only long words need checking."""
    begins_words: bool = False
    """Each needle is a prefix of the secret and starts a word."""
    is_secret: Callable[[re.Match[str]], bool] | None = None
    """A second check of what the pattern matched."""
    could_match_at: Callable[[str, int, int], bool] | None = None
    """Takes a text and a needle's start and end in it; False if the pattern can't match there."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled on first use, then cached by `re`; text without secrets needs few patterns."""
        return re.compile(self.expression)

    def may_be_in(self, text: str) -> bool:
        for needle in self.needles:
            start = text.find(needle)
            while start >= 0:
                end = start + len(needle)
                if self.could_match_at is None or self.could_match_at(text, start, end):
                    return True
                start = text.find(needle, end)
        return False


# Parts of the examples: long enough for every pattern, and nobody's key.
SAMPLE = "a1B2c3D4e5" * 20
HEX = "0a1b2c3d4e5f6789" * 10
UPPER = "A2B3C4D5E6" * 10
