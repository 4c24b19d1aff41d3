"""The ids of sessions, messages and tool calls: made from where they stand, so stable for ever."""

from __future__ import annotations

from hashlib import sha256


def session_id(source: str, path: str) -> str:
    return _short(f"{source}:{path}")


def message_id(session: str, idx: int) -> str:
    return _short(f"{session}:{idx}")


def call_id(session: str, message_idx: int | None, idx: int) -> str:
    """Of a call in a message, or, without one, of a call outside every message."""
    if message_idx is None:
        return _short(f"{session}:orphan:{idx}")
    return call_id_in(message_id(session, message_idx), idx)


def call_id_in(message: str, idx: int) -> str:
    return _short(f"{message}:{idx}")


def _short(text: str) -> str:
    # A file name may hold bytes that are no text; they reach us as surrogates.
    return sha256(text.encode("utf-8", "surrogateescape")).digest()[:8].hex()
