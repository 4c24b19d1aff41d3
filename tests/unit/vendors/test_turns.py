"""Turns that were cut short, as the transcripts of each agent have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from navi.memory.model import PastTurn
from navi.vendors.claude_code.history import ClaudeCodeSource
from navi.vendors.codex.history import CodexSource
from tests.unit.vendors.rows import rows_of, written

AT = "2026-11-15T12:00:00.000Z"


def endings(turns: list[PastTurn]) -> list[tuple[str, str | None]]:
    return [(turn.outcome, turn.error) for turn in turns]


def claude_line(kind: str, text: str, uuid: str, **fields: Any) -> dict[str, Any]:
    message = {"role": kind, "content": [{"type": "text", "text": text}], **fields}
    return {"type": kind, "message": message, "uuid": uuid, "timestamp": AT}


def test_an_error_of_the_provider_ends_a_turn_of_claude_code(tmp_path: Path) -> None:
    error = claude_line("assistant", "API Error: 529", "u1", model="<synthetic>")
    lines = [claude_line("user", "build it", "u0"), {**error, "isApiErrorMessage": True}]
    rows = rows_of(ClaudeCodeSource(), written(tmp_path / "s.jsonl", *lines))
    assert endings(rows.turns) == [("error", "API Error: 529")]


def test_what_claude_code_says_itself_is_no_error(tmp_path: Path) -> None:
    line = claude_line("assistant", "No response requested.", "u0", model="<synthetic>")
    rows = rows_of(ClaudeCodeSource(), written(tmp_path / "s.jsonl", line))
    assert rows.turns == []


def test_a_turn_of_claude_code_that_a_person_interrupted_was_stopped(tmp_path: Path) -> None:
    lines = [
        claude_line("user", "build it", "u0"),
        claude_line("user", "[Request interrupted by user for tool use]", "u1"),
    ]
    rows = rows_of(ClaudeCodeSource(), written(tmp_path / "s.jsonl", *lines))
    assert endings(rows.turns) == [("stopped", None)]


def test_a_copy_of_the_error_in_the_same_file_is_not_a_second_one(tmp_path: Path) -> None:
    error = claude_line("assistant", "API Error: 529", "u1", model="<synthetic>")
    lines = [{**error, "isApiErrorMessage": True}] * 2
    rows = rows_of(ClaudeCodeSource(), written(tmp_path / "s.jsonl", *lines))
    assert len(rows.turns) == 1


def test_turns_of_codex_end_with_an_error_or_are_aborted(tmp_path: Path) -> None:
    events = [
        {"type": "turn_aborted", "reason": "interrupted"},
        {"type": "task_complete", "error": {"message": "no luck"}},
        {"type": "task_complete"},
        {"type": "error", "message": "stream disconnected"},
    ]
    lines = [{"timestamp": AT, "type": "event_msg", "payload": event} for event in events]
    rows = rows_of(CodexSource(), written(tmp_path / "rollout-x.jsonl", *lines))
    assert endings(rows.turns) == [
        ("stopped", None),
        ("error", "no luck"),
        ("error", "stream disconnected"),
    ]
