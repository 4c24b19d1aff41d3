"""Text that has the same width in every terminal.

Terminals disagree about the width of joined emoji, skin tones and variation selectors. A wrong
width would misplace the rest of the line, so the characters that cause it are left out: a family
becomes its members.
"""

from __future__ import annotations

import re

from navi.base.control_characters import one_line, without_control_characters

TAB = 4
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_UNCERTAIN = re.compile(
    "\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])"  # joins the emoji on both sides
    "|[\u200b\u2060\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff\U000e0000-\U000e01ef]"
)


def screen_line(text: str) -> str:
    """The text on one line."""
    return _certain(one_line(text))


def screen_text(text: str) -> str:
    """The text with its lines, without tabs."""
    return _certain(without_control_characters(text).expandtabs(TAB))


def _certain(text: str) -> str:
    if _NOT_ASCII.search(text) is None:
        return text
    import unicodedata

    return unicodedata.normalize("NFC", _UNCERTAIN.sub("", text))
