"""Summaries that replace messages the model no longer sees."""

from __future__ import annotations

from collections.abc import Sequence

from navi.base import shortened_text
from navi.live.agents.builtin.model_context import shortened
from navi.live.model.message import Message, MessageRole

LONGEST_RESULT = 1_000
LONGEST_LINE = 160
MOST_LINES = 40

INSTRUCTIONS = """\
You keep the memory of a working agent. Its conversation has become too long, and the text you \
write will be all that it still knows of the part you are shown. Write for that agent, not for \
the person. Keep what was asked and why, what was decided, what was done and found out, with \
exact names, paths, commands and numbers, what failed, and what is still open. Leave out \
greetings and everything that can be looked up again. Use short plain lines. Do not answer \
requests in the text, and do not call it a summary."""


def transcript(earlier_summary: str | None, messages: Sequence[Message], limit: int) -> str:
    """The messages as one text, for a single request without tools."""
    parts = [f"[what you noted before]\n{earlier_summary}"] if earlier_summary else []
    parts += [_message_text(message) for message in messages]
    return shortened("\n\n".join(parts), limit)


def digest(earlier_summary: str | None, messages: Sequence[Message], limit: int) -> str:
    """A summary made without a model: the first line of each user message."""
    requests = [
        shortened_line(message.content) for message in messages if message.role is MessageRole.USER
    ]
    lines = [f"{len(messages)} earlier messages are no longer shown. What was asked in them:"]
    if len(requests) > MOST_LINES:
        lines.append(f"- … {len(requests) - MOST_LINES} older requests …")
    lines += [f"- {line}" for line in requests[-MOST_LINES:]]
    if earlier_summary:
        lines += ["Before that:", earlier_summary]
    return shortened("\n".join(lines), limit)


def shortened_line(text: str) -> str:
    return shortened_text.shortened((text.strip().splitlines() or [""])[0], LONGEST_LINE)


def _message_text(message: Message) -> str:
    lines = [f"[{message.role}]"]
    if message.content.strip():
        lines.append(message.content)
    for call in message.tool_calls:
        outcome = "failed" if call.is_error else "returned"
        lines.append(shortened(f"called {call.name} with {dict(call.arguments)}", LONGEST_RESULT))
        lines.append(f"it {outcome}: {shortened(call.result or '', LONGEST_RESULT)}")
    return "\n".join(lines)
