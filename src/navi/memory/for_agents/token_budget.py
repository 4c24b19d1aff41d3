"""How many tokens a text has, roughly, and how many are left."""

from __future__ import annotations

from dataclasses import dataclass

BYTES_PER_TOKEN = 4
"""About right for English and code, and on the safe side for most other languages in UTF-8."""


def tokens_in(text: str) -> int:
    """An estimate: a token for every four bytes of UTF-8."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def cut_to_tokens(text: str, tokens: int) -> str:
    """The beginning of the text, and how much was left out."""
    if tokens_in(text) <= tokens:
        return text
    kept = text.encode("utf-8", "replace")[: max(0, tokens) * BYTES_PER_TOKEN]
    beginning = kept.decode("utf-8", "ignore")
    return f"{beginning} … ({len(text) - len(beginning):,} more characters)"


@dataclass(slots=True)
class TokenBudget:
    left: int

    def take(self, text: str) -> bool:
        """Use up the text's tokens and return True, or return False if it does not fit."""
        tokens = tokens_in(text) + 1  # and a line break
        if tokens > self.left:
            return False
        self.left -= tokens
        return True
