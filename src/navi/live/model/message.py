"""The transcript, and how the events of a turn become its messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from navi.live.model.event import (
    HistoryCompacted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    merge_deltas,
)
from navi.live.model.turn import Ending, Outcome

ERROR_LIMIT = 500
"""Characters of an error message to show in the transcript."""
NOTHING_TO_REPORT = "(finished with nothing to report)"
NOT_FINISHED = "(not finished: the turn ended first)"


class MessageRole(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: Mapping[str, Any]
    result: str | None = None
    """None while the tool is running."""
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A message to store: one step of the agent (thinking, text, then tool calls), or a summary."""

    role: MessageRole = MessageRole.ASSISTANT
    content: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    compacted_up_to: int | None = None
    """Set on a summary: the `idx` of the last message that it replaces."""

    @property
    def is_closed(self) -> bool:
        """Whether further text and tool calls belong to the next message."""
        if self.role is MessageRole.SYSTEM:
            return True
        return bool(self.tool_calls) and all(call.result is not None for call in self.tool_calls)


@dataclass(frozen=True, slots=True)
class Notice:
    """A message outside any turn: a note by Navi, or an answer from a hidden session."""

    id: str
    content: str
    source: str
    metadata: Mapping[str, Any]
    role: MessageRole = MessageRole.SYSTEM


@dataclass(frozen=True, slots=True)
class Message:
    id: str
    session_id: str
    idx: int
    role: MessageRole
    content: str
    thinking: str
    tool_calls: tuple[ToolCall, ...]
    is_recall: bool
    source: str
    """The `Origin` of what caused this message."""
    metadata: Mapping[str, Any]
    timestamp: datetime
    compacted_up_to: int | None = None


def drafts_of(events: Iterable[TurnEvent]) -> list[Draft]:
    """A turn's events as messages, one for each step of the agent."""
    drafts: list[Draft] = []
    for event in merge_deltas(list(events)):
        if isinstance(event, HistoryCompacted):
            drafts.append(_summary(event))
            continue
        if isinstance(event, ToolFinished):
            _record_result(drafts, event)
            continue
        if not drafts or drafts[-1].is_closed:
            drafts.append(Draft())
        drafts[-1] = _extended(drafts[-1], event)
    return drafts


def with_ending(
    drafts: Sequence[Draft], ending: Ending, *, must_speak: bool = False
) -> list[Draft]:
    """The drafts as stored: every call has a result, and every turn visibly ends.

    With `must_speak`, for turns that nobody watches, the last message always has text, and reports
    a failure.
    """
    messages = [
        replace(draft, tool_calls=tuple(_with_result(call) for call in draft.tool_calls))
        for draft in drafts
    ]
    if not messages or not _ends_turn(messages[-1], ending, must_speak):
        messages.append(Draft(content=closing_words(ending)))
    if ending.outcome is not Outcome.OK:
        outcome = {"outcome": ending.outcome.value, "error": _short(ending.error)}
        messages[-1] = replace(messages[-1], metadata={**messages[-1].metadata, **outcome})
    return messages


def with_new_ending(
    drafts: Sequence[Draft], before: Ending, ending: Ending, *, must_speak: bool = False
) -> list[Draft]:
    """The drafts with `ending` instead of `before`, the ending that `with_ending` gave them."""
    has_closing_message = drafts and drafts[-1].content == closing_words(before)
    return with_ending(
        drafts[:-1] if has_closing_message else drafts, ending, must_speak=must_speak
    )


def _ends_turn(draft: Draft, ending: Ending, must_speak: bool) -> bool:
    if draft.role is MessageRole.SYSTEM:
        return False
    if must_speak:
        return bool(draft.content) and ending.outcome not in (Outcome.ERROR, Outcome.LIMIT)
    # A successful turn may end with a tool's result; any other must end with text.
    return bool(draft.content) or (ending.outcome is Outcome.OK and bool(draft.tool_calls))


def _summary(event: HistoryCompacted) -> Draft:
    return Draft(role=MessageRole.SYSTEM, content=event.summary, compacted_up_to=event.up_to_idx)


def _extended(draft: Draft, event: ThinkingDelta | TextDelta | ToolStarted) -> Draft:
    match event:
        case ThinkingDelta(delta):
            return replace(draft, thinking=draft.thinking + delta)
        case TextDelta(delta):
            return replace(draft, content=draft.content + delta)
        case ToolStarted(tool_call_id, name, arguments):
            call = ToolCall(tool_call_id, name, arguments)
            return replace(draft, tool_calls=(*draft.tool_calls, call))


def _record_result(drafts: list[Draft], event: ToolFinished) -> None:
    finished = ToolCall(
        event.tool_call_id, event.name, event.arguments, event.result, event.is_error
    )
    for index in range(len(drafts) - 1, -1, -1):
        calls = drafts[index].tool_calls
        if any(call.id == finished.id for call in calls):
            calls = tuple(finished if call.id == finished.id else call for call in calls)
            drafts[index] = replace(drafts[index], tool_calls=calls)
            return
    # Some drivers report a call only once it has finished; it still belongs in the transcript.
    drafts.append(Draft(tool_calls=(finished,)))


def _with_result(call: ToolCall) -> ToolCall:
    return call if call.result is not None else replace(call, result=NOT_FINISHED, is_error=True)


def closing_words(ending: Ending) -> str:
    """The message of a turn whose agent said nothing."""
    match ending.outcome:
        case Outcome.OK:
            return NOTHING_TO_REPORT
        case Outcome.STOPPED:
            return "(stopped)"
        case Outcome.MAX_ITERATIONS:
            return f"({ending.error})"
        case Outcome.DENIED:
            return f"({_short(ending.error)})"
        case Outcome.LIMIT:
            return f"(usage limit: {_short(ending.error)})"
        case Outcome.ERROR:
            return f"(failed: {_short(ending.error)})"


def _short(error: str | None) -> str | None:
    """The error's first line, cut to ERROR_LIMIT. The log or the run has the rest."""
    first, *more = (error or "").strip().splitlines() or [""]
    if not more and len(first) <= ERROR_LIMIT:
        return error
    return f"{first[:ERROR_LIMIT]} …"
