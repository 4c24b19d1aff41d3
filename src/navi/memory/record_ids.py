"""Ids of sessions, messages and tool calls: hashes of the path and `idx`, so they never change."""

from __future__ import annotations

from hashlib import sha256


def session_id(source: str, path: str) -> str:
    return _short(f"{source}:{path}")


def message_id(session_id: str, idx: int) -> str:
    return _short(f"{session_id}:{idx}")


def call_id(session_id: str, message_idx: int | None, idx: int) -> str:
    """`message_idx` is None for a call outside every message."""
    if message_idx is None:
        return _short(f"{session_id}:orphan:{idx}")
    return _short(f"{message_id(session_id, message_idx)}:{idx}")


def _short(text: str) -> str:
    # Bytes of a file name that are not UTF-8 reach us as surrogates.
    return sha256(text.encode("utf-8", "surrogateescape")).digest()[:8].hex()
