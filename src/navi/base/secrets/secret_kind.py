"""One kind of secret: how it looks, and an example of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

SHORTEST_WORD = 16
"""Characters of the shortest secret that is recognized by how it begins."""


class SecretKind(NamedTuple):
    name: str
    needles: tuple[str, ...]
    """One of them is in every text with such a secret."""
    expression: str
    """The group `secret` is what gets masked, or all of it if there is no such group."""
    example: str
    ignores_case: bool = False
    """The needles are in lower case, and so is the text that they are looked for in."""
    is_one_word: bool = False
    """Has no white space, so that only long words need to be looked at."""
    begins_words: bool = False
    """Each needle begins a word, and so the secret."""
    is_secret: Callable[[re.Match[str]], bool] | None = None
    """A second look at what the pattern found."""
    may_stand: Callable[[str, int, int], bool] | None = None
    """Whether the pattern could find anything at a needle, given its start and end in the text."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when first needed: a search that shows no secret compiles hardly any."""
        return re.compile(self.expression)

    def may_be_in(self, text: str) -> bool:
        for needle in self.needles:
            start = text.find(needle)
            while start >= 0:
                end = start + len(needle)
                if self.may_stand is None or self.may_stand(text, start, end):
                    return True
                start = text.find(needle, end)
        return False


# For examples: runs of characters long enough for every pattern, without being anybody's key.
RUN = "a1B2c3D4e5" * 20
HEX = "0a1b2c3d4e5f6789" * 10
UPPER = "A2B3C4D5E6" * 10
