"""A session's last messages as text, for `sm output` and `sm tail`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from itertools import groupby
from operator import itemgetter
from typing import Any

from navi.cli.sm import lines
from navi.live.model.message import closing_words
from navi.live.model.turn import Ending, Outcome

Json = dict[str, Any]
LONGEST_ARGUMENTS = 160
LONGEST_RESULT = 400
LONGEST_TEXT = 2_000


def last_turns(messages: Sequence[Json], count: int) -> list[Json]:
    """The agent's messages from its last `count` turns, without the inputs it received."""
    by_role = groupby(messages, key=itemgetter("role"))
    turns = [list(group) for role, group in by_role if role == "assistant"]
    return [message for turn in turns[-count:] for message in turn]


def printable(message: Json, timezone: tzinfo, *, is_full: bool = False) -> Iterator[str]:
    """A message as lines: time, author and text; then its tool calls, and how the turn ended.

    Long texts are cut unless `is_full`.
    """
    at = datetime.fromisoformat(message["timestamp"]).astimezone(timezone)
    author = (
        message["role"] if message["role"] != "user" else lines.sender(message, message["source"])
    )
    if message["content"] or not message["tool_calls"]:
        yield f"{at:%H:%M:%S} {author}: {beginning(message['content'], is_full=is_full)}"
    for call in message["tool_calls"]:
        yield f"{at:%H:%M:%S} {author} calls {describe_call(call, is_full=is_full)}"
    if (end := ending(message)) is not None:
        yield f"{at:%H:%M:%S} [{end}]"


def ending(message: Json) -> str | None:
    """How the turn ended, if `message` is its last one and its text does not say so."""
    outcome, error = message["metadata"].get("outcome"), message["metadata"].get("error")
    if outcome is None or message["content"] == closing_words(Ending(Outcome(outcome), error)):
        return None
    return f"{outcome}: {lines.plain(error)}" if error else str(outcome)


def beginning(text: str, *, is_full: bool = False) -> str:
    """The beginning of a long text, and how much is missing."""
    missing = len(text) - LONGEST_TEXT
    if is_full or missing <= 0:
        return text
    return f"{text[:LONGEST_TEXT]}… {missing:,} more characters; --full shows them"


def describe_call(call: Json, *, is_full: bool = False) -> str:
    import json

    arguments = lines.plain(
        json.dumps(call["arguments"], ensure_ascii=False), None if is_full else LONGEST_ARGUMENTS
    )
    result = ""
    if call["result"] is not None:
        result = f" -> {lines.plain(call['result'], None if is_full else LONGEST_RESULT)}"
    return f"{call['name']} {arguments}{' failed' if call['is_error'] else ''}{result}"
