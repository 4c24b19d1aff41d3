"""What of a session's past the model is shown, and when that has grown too long."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from navi.live.model.input import signed
from navi.live.model.message import NOT_FINISHED, Message, MessageRole, ToolCall

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

CHARACTERS_PER_TOKEN = 4
"""A rough measure that needs no tokenizer; models differ in theirs anyway."""

LONGEST_VALUE = 20_000
"""Characters of an old tool result, or of one argument, that the model still sees.

A file it read many turns ago is worth reading again if it matters. The transcript keeps it whole.
"""

TURN_ENDED = "(the turn ended here)"

_ALLOWED_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_IN_TOOL_NAMES = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Past:
    """What the model knows of a session: perhaps a summary, then the messages since."""

    summary: str | None
    messages: tuple[Message, ...]


def past_of(history: Sequence[Message]) -> Past:
    """The newest summary stands at the beginning, wherever it was written in the history."""
    summary: Message | None = None
    for message in history:
        if message.compacted_up_to is not None:
            summary = message
    last_summarised = (
        -1 if summary is None or summary.compacted_up_to is None else (summary.compacted_up_to)
    )
    since = tuple(m for m in history if m.compacted_up_to is None and m.idx > last_summarised)
    return Past(summary.content if summary else None, since)


def estimated_tokens(past: Past) -> int:
    characters = len(past.summary or "") + sum(_characters(message) for message in past.messages)
    return characters // CHARACTERS_PER_TOKEN


def needs_compaction(past: Past, budget: int) -> bool:
    return bool(past.messages) and estimated_tokens(past) > budget


def split(past: Past, budget: int) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """What is to be summarised, and what the model keeps: the newest, within half the budget.

    The cut is at the beginning of a user message, so that no tool call loses its result. If not
    even the last turn fits, all of it is summarised.
    """
    left = budget * CHARACTERS_PER_TOKEN // 2
    cut = len(past.messages)
    for place in range(len(past.messages) - 1, -1, -1):
        message = past.messages[place]
        left -= _characters(message)
        if left < 0:
            break
        if message.role is MessageRole.USER:
            cut = place
    # A summary that is itself too long must not keep all messages and compact nothing.
    cut = cut or len(past.messages)
    return past.messages[:cut], past.messages[cut:]


def model_messages(past: Past) -> list[ModelMessage]:
    """The past as pydantic-ai wants it: every tool call is followed by its result."""
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    messages: list[ModelMessage] = []
    if past.summary is not None:
        text = f"[A summary of our conversation so far]\n{past.summary}"
        messages.append(ModelRequest(parts=[UserPromptPart(text)]))
    seen_call_ids: set[str] = set()
    for message in past.messages:
        if message.role is MessageRole.ASSISTANT:
            messages.extend(_step(message, seen_call_ids))
            continue
        _close_turn(messages)
        text = _text(message)
        part = UserPromptPart(text, timestamp=message.timestamp)
        messages.append(ModelRequest(parts=[part], timestamp=message.timestamp))
    _close_turn(messages)
    return messages


def _text(message: Message) -> str:
    """A message not from the agent. Only a person's words are left unmarked."""
    if message.role is not MessageRole.USER:
        return f"[{message.content}]"
    if message.is_recall:
        return f"[A scheduled recall's instruction, not the person's words]\n{message.content}"
    return signed(message.content, message.metadata)


def shortened(text: str, limit: int = LONGEST_VALUE) -> str:
    """The beginning and the end of a text that is too long, and how much is missing between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def _step(message: Message, seen_call_ids: set[str]) -> list[ModelMessage]:
    """One step of the agent. Thinking stays out: providers accept only their own, and signed."""
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
    )

    said: list[TextPart | ToolCallPart] = []
    returned: list[ToolReturnPart] = []
    if message.content.strip():  # providers refuse blank text
        said.append(TextPart(message.content))
    for number, call in enumerate(message.tool_calls):
        call_id = _call_id(call.id, f"call_{message.idx}_{number}", seen_call_ids)
        name = _NOT_IN_TOOL_NAMES.sub("_", call.name)[:64] or "unknown"
        said.append(ToolCallPart(name, _shortened_values(call.arguments), call_id))
        returned.append(
            ToolReturnPart(
                name,
                _result(call),
                call_id,
                timestamp=message.timestamp,
                outcome="failed" if call.is_error or call.result is None else "success",
            )
        )
    messages: list[ModelMessage] = []
    if said:
        messages.append(ModelResponse(parts=said, timestamp=message.timestamp))
    if returned:
        messages.append(ModelRequest(parts=returned, timestamp=message.timestamp))
    return messages


def _close_turn(messages: list[ModelMessage]) -> None:
    """Let the agent have the last word of a turn that ended with a tool's result.

    Otherwise the next user message would look like a part of that step. Anthropic refuses that:
    within a step it wants the thinking back, which we don't keep.
    """
    from pydantic_ai.messages import ModelResponse, TextPart

    if messages and any(part.part_kind == "tool-return" for part in messages[-1].parts):
        messages.append(ModelResponse(parts=[TextPart(TURN_ENDED)]))


def _call_id(given: str, otherwise: str, seen: set[str]) -> str:
    """An id every provider takes, and no other call has: another driver may have made it up."""
    usable = _ALLOWED_CALL_ID.fullmatch(given) is not None and given not in seen
    call_id = given if usable else otherwise
    seen.add(call_id)
    return call_id


def _result(call: ToolCall) -> str:
    return NOT_FINISHED if call.result is None else shortened(call.result)


def _shortened_values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: shortened(value) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


def _characters(message: Message) -> int:
    """What the message costs the model; thinking is not sent."""
    characters = len(message.content)
    for call in message.tool_calls:
        characters += len(call.name) + len(str(_shortened_values(call.arguments)))
        characters += len(_result(call))
    return characters
