"""A session's last messages as text, for `sm output` and `sm tail`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from typing import Any

from navi.cli.sm import lines

Json = dict[str, Any]
LONGEST_ARGUMENTS = 160
LONGEST_RESULT = 400


def last_turns(messages: Sequence[Json], count: int) -> list[Json]:
    """The agent's messages of its last turns, without its inputs."""
    kept: list[Json] = []
    turns = 0
    was_agent = False
    for message in reversed(messages):
        is_agent = message["role"] == "assistant"
        turns += int(is_agent and not was_agent)
        was_agent = is_agent
        if turns > count:
            break
        if is_agent:
            kept.append(message)
    return kept[::-1]


def printable(message: Json, timezone: tzinfo) -> Iterator[str]:
    """A message as lines: who, when, what; then its tool calls."""
    at = datetime.fromisoformat(message["timestamp"]).astimezone(timezone)
    who = message["role"] if message["role"] != "user" else lines.sender(message, message["source"])
    if message["content"] or not message["tool_calls"]:
        yield f"{at:%H:%M:%S} {who}: {message['content']}"
    for call in message["tool_calls"]:
        yield f"{at:%H:%M:%S} {who} calls {tool(call)}"
    if (end := ending(message)) is not None:
        yield f"{at:%H:%M:%S} [{end}]"


def ending(message: Json) -> str | None:
    """How the turn ended, unless its last message already says so."""
    outcome, error = message["metadata"].get("outcome"), message["metadata"].get("error")
    if outcome is None or (error or outcome) in message["content"]:
        return None
    return f"{outcome}: {lines.plain(error)}" if error else str(outcome)


def tool(call: Json) -> str:
    import json

    arguments = lines.plain(json.dumps(call["arguments"], ensure_ascii=False), LONGEST_ARGUMENTS)
    result = "" if call["result"] is None else f" -> {lines.plain(call['result'], LONGEST_RESULT)}"
    return f"{call['name']} {arguments}{' failed:' if call['is_error'] else ''}{result}"
