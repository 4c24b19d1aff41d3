"""The part of a session's history that the model sees, and how to shorten it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from navi.live.model.input import with_sender
from navi.live.model.message import NOT_FINISHED, Message, MessageRole, ToolCall

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

CHARACTERS_PER_TOKEN = 4
"""A rough estimate. Counting exactly would need each model's own tokenizer."""

LONGEST_VALUE = 20_000
"""How many characters of an old tool result or argument the model still sees.

The model can read a file again if it needs to. The transcript keeps the whole text.
"""

TURN_ENDED = "(the turn ended here)"

_ALLOWED_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_IN_TOOL_NAMES = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class ModelContext:
    """A summary, if there is one, and the messages since."""

    summary: str | None
    messages: tuple[Message, ...]


def model_context(history: Sequence[Message]) -> ModelContext:
    """The newest summary, wherever it is in the history, and the messages it doesn't cover."""
    summary: Message | None = None
    for message in history:
        if message.compacted_up_to is not None:
            summary = message
    last_summarised_idx = -1
    if summary is not None and summary.compacted_up_to is not None:
        last_summarised_idx = summary.compacted_up_to
    since = tuple(m for m in history if m.compacted_up_to is None and m.idx > last_summarised_idx)
    return ModelContext(summary.content if summary else None, since)


def estimated_tokens(context: ModelContext) -> int:
    characters = len(context.summary or "") + sum(
        _characters(message) for message in context.messages
    )
    return characters // CHARACTERS_PER_TOKEN


def needs_compaction(context: ModelContext, budget: int) -> bool:
    return bool(context.messages) and estimated_tokens(context) > budget


def split(context: ModelContext, budget: int) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """The messages to summarise, and the newest ones, which fit into half the budget of tokens.

    Cuts before a user message, so that no tool call loses its result. If not even the last turn
    fits, everything is summarised.
    """
    room = budget * CHARACTERS_PER_TOKEN // 2
    cut = len(context.messages)
    for position in range(len(context.messages) - 1, -1, -1):
        message = context.messages[position]
        room -= _characters(message)
        if room < 0:
            break
        if message.role is MessageRole.USER:
            cut = position
    # All messages fit if only the old summary is too long; summarise them nonetheless.
    cut = cut or len(context.messages)
    return context.messages[:cut], context.messages[cut:]


def model_messages(context: ModelContext) -> list[ModelMessage]:
    """The context as pydantic-ai expects it: every tool call is followed by its result."""
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    messages: list[ModelMessage] = []
    if context.summary is not None:
        text = f"[A summary of our conversation so far]\n{context.summary}"
        messages.append(ModelRequest(parts=[UserPromptPart(text)]))
    seen_call_ids: set[str] = set()
    for message in context.messages:
        if message.role is MessageRole.ASSISTANT:
            messages.extend(_assistant_messages(message, seen_call_ids))
            continue
        _close_turn(messages)
        text = _text(message)
        part = UserPromptPart(text, timestamp=message.timestamp)
        messages.append(ModelRequest(parts=[part], timestamp=message.timestamp))
    _close_turn(messages)
    return messages


def _text(message: Message) -> str:
    """The text of a message to the agent. Only a person's own words are left unmarked."""
    if message.role is not MessageRole.USER:
        return f"[{message.content}]"
    if message.is_recall:
        return f"[A scheduled recall's instruction, not the person's words]\n{message.content}"
    return with_sender(message.content, message.metadata)


def without_middle(text: str, limit: int = LONGEST_VALUE) -> str:
    """The text, with its middle replaced by a note if it is too long."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def _assistant_messages(message: Message, seen_call_ids: set[str]) -> list[ModelMessage]:
    """The model's response, and its tools' results.

    Thinking is left out, because providers accept only thinking that they have signed.
    """
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
    )

    parts: list[TextPart | ToolCallPart] = []
    results: list[ToolReturnPart] = []
    if message.content.strip():  # providers refuse blank text
        parts.append(TextPart(message.content))
    for number, call in enumerate(message.tool_calls):
        call_id = _call_id(call.id, f"call_{message.idx}_{number}", seen_call_ids)
        name = _NOT_IN_TOOL_NAMES.sub("_", call.name)[:64] or "unknown"
        parts.append(ToolCallPart(name, _shortened_values(call.arguments), call_id))
        results.append(
            ToolReturnPart(
                name,
                _result(call),
                call_id,
                timestamp=message.timestamp,
                outcome="failed" if call.is_error or call.result is None else "success",
            )
        )
    messages: list[ModelMessage] = []
    if parts:
        messages.append(ModelResponse(parts=parts, timestamp=message.timestamp))
    if results:
        messages.append(ModelRequest(parts=results, timestamp=message.timestamp))
    return messages


def _close_turn(messages: list[ModelMessage]) -> None:
    """Add a closing answer to a turn that ended with a tool's result.

    Otherwise Anthropic would treat the next user message as part of that turn. It would then refuse
    the request, because an unfinished turn must include the model's thinking, which we don't send.
    """
    from pydantic_ai.messages import ModelResponse, TextPart

    if messages and any(part.part_kind == "tool-return" for part in messages[-1].parts):
        messages.append(ModelResponse(parts=[TextPart(TURN_ENDED)]))


def _call_id(original: str, fallback: str, used_ids: set[str]) -> str:
    """A unique id that every provider accepts. Another driver's id may be malformed or repeated."""
    is_usable = _ALLOWED_CALL_ID.fullmatch(original) is not None and original not in used_ids
    call_id = original if is_usable else fallback
    used_ids.add(call_id)
    return call_id


def _result(call: ToolCall) -> str:
    return NOT_FINISHED if call.result is None else without_middle(call.result)


def _shortened_values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: without_middle(value) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


def _characters(message: Message) -> int:
    """How many of the message's characters are sent to the model. Thinking is not sent."""
    characters = len(message.content)
    for call in message.tool_calls:
        characters += len(call.name) + len(str(_shortened_values(call.arguments)))
        characters += len(_result(call))
    return characters
