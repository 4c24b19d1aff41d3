"""A session's last messages as text, for `sm output` and `sm tail`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from itertools import groupby
from operator import itemgetter
from typing import Any

from navi.cli.sm import lines

Json = dict[str, Any]
LONGEST_ARGUMENTS = 160
LONGEST_RESULT = 400


def last_turns(messages: Sequence[Json], count: int) -> list[Json]:
    """The agent's messages from its last `count` turns, without the inputs it received."""
    by_role = groupby(messages, key=itemgetter("role"))
    turns = [list(group) for role, group in by_role if role == "assistant"]
    return [message for turn in turns[-count:] for message in turn]


def printable(message: Json, timezone: tzinfo) -> Iterator[str]:
    """A message as lines: when, who and what; then its tool calls, and how the turn ended."""
    at = datetime.fromisoformat(message["timestamp"]).astimezone(timezone)
    who = message["role"] if message["role"] != "user" else lines.sender(message, message["source"])
    if message["content"] or not message["tool_calls"]:
        yield f"{at:%H:%M:%S} {who}: {message['content']}"
    for call in message["tool_calls"]:
        yield f"{at:%H:%M:%S} {who} calls {describe_call(call)}"
    if (end := ending(message)) is not None:
        yield f"{at:%H:%M:%S} [{end}]"


def ending(message: Json) -> str | None:
    """How the turn ended, if `message` ended one and does not say so itself."""
    outcome, error = message["metadata"].get("outcome"), message["metadata"].get("error")
    if outcome is None or (error or outcome) in message["content"]:
        return None
    return f"{outcome}: {lines.plain(error)}" if error else str(outcome)


def describe_call(call: Json) -> str:
    import json

    arguments = lines.plain(json.dumps(call["arguments"], ensure_ascii=False), LONGEST_ARGUMENTS)
    result = "" if call["result"] is None else f" -> {lines.plain(call['result'], LONGEST_RESULT)}"
    return f"{call['name']} {arguments}{' failed' if call['is_error'] else ''}{result}"
