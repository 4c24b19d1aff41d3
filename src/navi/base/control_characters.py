"""Characters that a terminal obeys instead of showing, or that reverse the text after them.

Agents read web pages and other people's files, so any text may contain them. We remove them from
what people read because they could clear the screen, fill the clipboard or disguise a line.
Right-to-left letters and joined emoji stay.
"""

from __future__ import annotations

import re

# C0 except newline and tab, DEL, C1, Unicode's bidirectional controls, and lone surrogates, which
# can't be printed.
CONTROL_CHARACTER = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Sequences that are removed whole. Other sequences may contain text, which must stay visible, so
# they lose only their control characters.
_COLOUR_OR_MOVEMENT = re.compile(r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]")


def without_control_characters(text: str) -> str:
    """The text, safe to print anywhere. Newlines and tabs stay."""
    if CONTROL_CHARACTER.search(text) is None:
        return text
    return CONTROL_CHARACTER.sub("", _COLOUR_OR_MOVEMENT.sub("", text))


def one_line(text: str) -> str:
    """The text on one line, with single spaces and no control characters."""
    # Split first, because a carriage return between two words counts as a space.
    return " ".join(without_control_characters(" ".join(text.split())).split())
