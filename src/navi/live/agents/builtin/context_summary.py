"""Summaries that replace messages the model no longer sees."""

from __future__ import annotations

from collections.abc import Sequence

from navi.base.shortened_text import shortened
from navi.live.agents.builtin.model_context import without_middle
from navi.live.model.message import Message, MessageRole

LONGEST_CALL_TEXT = 1_000
LONGEST_LINE = 160
MAX_REQUESTS = 40

INSTRUCTIONS = """\
You keep the memory of a working agent. Its conversation has become too long, and the text you \
write will be all that it still knows of the part you are shown. Write for that agent, not for \
the person. Keep what was asked and why, what was decided, what was done and found out, with \
exact names, paths, commands and numbers, what failed, and what is still open. Leave out \
greetings and everything that can be looked up again. Use short plain lines. Do not answer \
requests in the text, and do not call it a summary."""


def text_to_summarise(earlier_summary: str | None, messages: Sequence[Message], limit: int) -> str:
    """The earlier summary and the messages as one text, for a model to summarise."""
    parts = [f"[what you noted before]\n{earlier_summary}"] if earlier_summary else []
    parts += [_message_text(message) for message in messages]
    return without_middle("\n\n".join(parts), limit)


def digest(earlier_summary: str | None, messages: Sequence[Message], limit: int) -> str:
    """A summary made without a model: first lines of user messages, and the earlier summary."""
    requests = [
        _first_line(message.content) for message in messages if message.role is MessageRole.USER
    ]
    lines = [f"Earlier messages no longer shown: {len(messages)}. What was asked in them:"]
    if len(requests) > MAX_REQUESTS:
        lines.append(f"- … older requests left out: {len(requests) - MAX_REQUESTS} …")
    lines += [f"- {line}" for line in requests[-MAX_REQUESTS:]]
    if earlier_summary:
        lines += ["Before that:", earlier_summary]
    return without_middle("\n".join(lines), limit)


def _first_line(text: str) -> str:
    return shortened((text.strip().splitlines() or [""])[0], LONGEST_LINE)


def _message_text(message: Message) -> str:
    lines = [f"[{message.role}]"]
    if message.content.strip():
        lines.append(message.content)
    for call in message.tool_calls:
        outcome = "failed" if call.is_error else "returned"
        lines.append(
            without_middle(f"called {call.name} with {dict(call.arguments)}", LONGEST_CALL_TEXT)
        )
        lines.append(f"it {outcome}: {without_middle(call.result or '', LONGEST_CALL_TEXT)}")
    return "\n".join(lines)
