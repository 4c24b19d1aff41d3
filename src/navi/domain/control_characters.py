"""Characters that control a terminal, or that reverse the direction of the text after them.

Texts of agents, web pages and other people's files may hold them. Where people read such a text,
they are taken out: on a terminal they could clear the screen, fill the clipboard or make a line
look like another one. Letters of right-to-left scripts and joined emoji are not among them.
"""

from __future__ import annotations

import re

# All but newline and tab: C0, DEL, C1, the marks that Unicode calls bidirectional controls, and
# halves of surrogate pairs, which are not characters.
CONTROL_CHARACTER = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Colours and cursor movements are dropped whole. Of other sequences, which carry text, only the
# control characters are: otherwise text could hide in them.
_COLOUR_OR_MOVEMENT = re.compile(r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]")


def without_control_characters(text: str) -> str:
    """The text as it can be printed anywhere; newlines and tabs stay."""
    if CONTROL_CHARACTER.search(text) is None:
        return text
    return CONTROL_CHARACTER.sub("", _COLOUR_OR_MOVEMENT.sub("", text))


def one_line(text: str) -> str:
    """The same on a single line, with single spaces."""
    return " ".join(without_control_characters(text).split())
