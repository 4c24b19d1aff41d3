"""Ids follow the specification and never change."""

from __future__ import annotations

from hashlib import sha256

from navi.memory.record_ids import call_id, message_id, session_id


def short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def test_ids_are_made_as_documented() -> None:
    session = short("claude_code:/home/ada/x.jsonl")
    assert session_id("claude_code", "/home/ada/x.jsonl") == session
    assert message_id(session, 7) == short(f"{session}:7")
    assert call_id(session, 7, 2) == short(f"{short(f'{session}:7')}:2")
    assert call_id(session, None, 3) == short(f"{session}:orphan:3")


def test_a_path_that_is_not_text_has_an_id_too() -> None:
    assert len(session_id("codex", "/x/\udcff.jsonl")) == 16
