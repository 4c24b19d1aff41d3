"""One-line builders of a session's messages."""

from __future__ import annotations

from datetime import UTC, datetime

from navi.live.model.message import Message, MessageRole, ToolCall

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def a_message(
    idx: int,
    role: MessageRole,
    content: str,
    *calls: ToolCall,
    thinking: str = "",
    compacted_up_to: int | None = None,
) -> Message:
    return Message(
        id=f"m{idx}",
        session_id="s1",
        idx=idx,
        role=role,
        content=content,
        thinking=thinking,
        tool_calls=calls,
        is_recall=False,
        source="user",
        metadata={},
        timestamp=NOON,
        compacted_up_to=compacted_up_to,
    )


def from_user(idx: int, content: str) -> Message:
    return a_message(idx, MessageRole.USER, content)


def from_agent(idx: int, content: str, *calls: ToolCall) -> Message:
    return a_message(idx, MessageRole.ASSISTANT, content, *calls)
