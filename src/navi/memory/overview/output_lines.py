"""The line of an output that says best what happened."""

from __future__ import annotations

from navi.memory.ingest.derived.output_excerpts import SIGNS

LONGEST_LINE = 160


def error_line(excerpt: str | None) -> str:
    """The line that says best what went wrong: the last one that looks like an error."""
    lines = [line.strip() for line in (excerpt or "").splitlines() if line.strip(" …")]
    signs = [line for line in lines if any(sign in line.lower() for sign in SIGNS)]
    return (signs or lines or [""])[-1][:LONGEST_LINE]


def last_line(excerpt: str | None) -> str:
    lines = [line.strip(" =-\t") for line in (excerpt or "").splitlines() if line.strip(" =-…\t")]
    return lines[-1][:LONGEST_LINE] if lines else ""
