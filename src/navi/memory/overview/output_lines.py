"""The most telling line of an output."""

from __future__ import annotations

from navi.memory.ingest.derived.output_excerpts import ERROR_WORDS

LONGEST_LINE = 160


def error_line(excerpt: str | None) -> str:
    """The last line that looks like an error, or else the last line."""
    lines = [line.strip() for line in (excerpt or "").splitlines() if line.strip(" …")]
    errors = [line for line in lines if any(word in line.lower() for word in ERROR_WORDS)]
    return (errors or lines or [""])[-1][:LONGEST_LINE]


def last_line(excerpt: str | None) -> str:
    lines = [line.strip(" =-\t") for line in (excerpt or "").splitlines() if line.strip(" =-…\t")]
    return lines[-1][:LONGEST_LINE] if lines else ""
