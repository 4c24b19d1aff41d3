"""Characters that a terminal obeys instead of showing, or that reverse the text after them.

Agents read web pages and other people's files, so any text may hold them. They are removed from
what people read, because they could clear the screen, fill the clipboard or disguise a line.
Letters of right-to-left scripts and joined emoji are left alone.
"""

from __future__ import annotations

import re

# C0 but for newline and tab, DEL, C1, Unicode's bidirectional controls, and halves of surrogate
# pairs, which cannot be printed.
CONTROL_CHARACTER = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Colours and cursor movements are dropped whole. Other sequences carry text; only their control
# characters are dropped, so that no text can hide in them.
_COLOUR_OR_MOVEMENT = re.compile(r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]")


def without_control_characters(text: str) -> str:
    """The text as it can be printed anywhere; newlines and tabs stay."""
    if CONTROL_CHARACTER.search(text) is None:
        return text
    return CONTROL_CHARACTER.sub("", _COLOUR_OR_MOVEMENT.sub("", text))


def one_line(text: str) -> str:
    """The same on a single line, with single spaces."""
    # Split before, too: a carriage return between two words is a space.
    return " ".join(without_control_characters(" ".join(text.split())).split())
