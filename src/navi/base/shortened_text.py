"""Long text, cut to fit."""

from __future__ import annotations


def shortened(text: str, longest: int) -> str:
    """At most `longest` characters, ending with … if something was cut."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
