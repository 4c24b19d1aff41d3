"""What happens during a turn, as drivers report it and as it is stored and sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    type: ClassVar[str] = "thinking_delta"
    delta: str

    def payload(self) -> Payload:
        return {"delta": self.delta}


@dataclass(frozen=True, slots=True)
class TextDelta:
    type: ClassVar[str] = "stream_delta"
    delta: str

    def payload(self) -> Payload:
        return {"delta": self.delta}


@dataclass(frozen=True, slots=True)
class ToolStarted:
    type: ClassVar[str] = "tool_started"
    tool_call_id: str
    name: str
    arguments: Mapping[str, Any]

    def payload(self) -> Payload:
        return {
            "tool_call_id": self.tool_call_id,
            "name": self.name,
            "arguments": dict(self.arguments),
        }


@dataclass(frozen=True, slots=True)
class ToolFinished:
    type: ClassVar[str] = "tool_call"
    tool_call_id: str
    name: str
    arguments: Mapping[str, Any]
    result: str
    is_error: bool = False

    def payload(self) -> Payload:
        return {
            "tool_call_id": self.tool_call_id,
            "name": self.name,
            "arguments": dict(self.arguments),
            "result": self.result,
            "is_error": self.is_error,
        }


@dataclass(frozen=True, slots=True)
class HistoryCompacted:
    """The agent now sees `summary` instead of all messages up to and including `up_to_idx`."""

    type: ClassVar[str] = "history_compacted"
    summary: str
    up_to_idx: int

    def payload(self) -> Payload:
        return {"summary": self.summary, "up_to_idx": self.up_to_idx}


TurnEvent = ThinkingDelta | TextDelta | ToolStarted | ToolFinished | HistoryCompacted


@dataclass(frozen=True, slots=True)
class Compacting:
    """Whether the agent is summarising its history; it accepts no input until that is done.

    Reported by drivers, not streamed. `HistoryCompacted` or the end of the turn also ends this.
    """

    is_compacting: bool = True


@dataclass(frozen=True, slots=True)
class Asking:
    """Whether the agent is waiting for a person to allow or choose something.

    Reported by drivers; it sets the session's state to `waiting` or `running`.
    """

    is_asking: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens used by the turn so far. Reported by drivers, stored with the turn, not streamed."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0
    model: str | None = field(default=None, compare=False)
    """The model that used them, if the agent names it."""
    dollars: float | None = field(default=None, compare=False)
    """What they cost, estimated by the runtime; None if the model's price is unknown."""


@dataclass(frozen=True, slots=True)
class UsageWindow:
    """How much of an allowance the account has used. Reported by drivers, not streamed."""

    kind: str
    """The vendor's name for it, such as `five_hour`."""
    used_percent: float | None
    resets_at: datetime | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The agent's own id for the session. Reported by drivers, stored, not streamed."""

    agent_session_id: str


class Event(NamedTuple):
    """An event as it is stored.

    `seq` counts without gaps within the session, `position` without gaps across all sessions.
    """

    position: int
    session_id: str
    seq: int
    user_id: str
    turn_id: str | None
    type: str
    payload: Payload
    created_at: datetime


def turn_event(type_: str, payload: Mapping[str, Any]) -> TurnEvent | None:
    """The turn event stored with this type and payload; None if the type is not a turn event's."""
    match type_:
        case "thinking_delta":
            return ThinkingDelta(payload["delta"])
        case "stream_delta":
            return TextDelta(payload["delta"])
        case "tool_started":
            return ToolStarted(payload["tool_call_id"], payload["name"], payload["arguments"])
        case "tool_call":
            return ToolFinished(
                payload["tool_call_id"],
                payload["name"],
                payload["arguments"],
                payload["result"],
                payload["is_error"],
            )
        case "history_compacted":
            return HistoryCompacted(payload["summary"], payload["up_to_idx"])
    return None


def merge_deltas(events: Sequence[TurnEvent]) -> list[TurnEvent]:
    """The same text in fewer events: adjacent deltas of one kind are joined."""
    merged: list[TurnEvent] = []
    for kind, group in groupby(events, key=type):
        if kind is TextDelta or kind is ThinkingDelta:
            merged.append(kind("".join(event.delta for event in group)))  # type: ignore[union-attr]
        else:
            merged.extend(group)
    return merged
