"""One session for an agent: its beginning and its end, or the part around a message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from navi.base.control_characters import one_line
from navi.base.errors import InvalidInput
from navi.base.secrets.masking import mask, masked_json
from navi.memory.for_agents.quotation import NOTICE, origin, quoted
from navi.memory.for_agents.token_budget import TokenBudget, cut_to_tokens
from navi.memory.read.session_transcript import Transcript

CALL_TOKENS = 60
"""The most tokens that one tool call may take."""
MOST_CALLS = 8
"""How many calls to show with one message."""
CLOSING_TOKENS = 60

Entry = tuple[dict[str, Any] | None, list[dict[str, Any]]]
"""A message and its tool calls. The message is None for calls outside every message."""


def session_extract(transcript: Transcript, around: int | None, budget: int) -> str:
    """As many messages as fit: those nearest to message `around`; without it, first and last."""
    entries = list(transcript.with_calls())
    room = TokenBudget(budget - CLOSING_TOKENS)
    head = [NOTICE, _heading(transcript), ""]
    for line in head:
        room.take(line)
    if around is None:
        position, orders = None, _from_both_ends(len(entries))
    else:
        position = _position(entries, around)
        orders = _from_the_middle(position, len(entries))
    texts = _fill(entries, orders, position, room)
    lines = list(head)
    previous = -1
    for each in sorted(texts):
        lines += _gap(entries, previous + 1, each)
        lines.append(texts[each])
        previous = each
    lines += _gap(entries, previous + 1, len(entries))
    if len(texts) < len(entries):
        lines.append(
            "read_session(id, around=N) shows what was left out; a larger budget shows more."
        )
    return "\n".join(lines)


def _heading(transcript: Transcript) -> str:
    session = transcript.session
    line = origin({**session, "session_id": session["id"]}, session["started_at"])
    messages, calls = session["message_count"], session["tool_count"]
    counts = f"messages: {messages:,}, tool calls: {calls:,}"
    if session["is_archived"]:
        counts += "; its file is gone, and this is what was indexed"
    return f"{line}\n{counts}"


def _position(entries: Sequence[Entry], idx: int) -> int:
    numbers = {message["idx"]: position for position, (message, _) in enumerate(entries) if message}
    if not numbers:
        return 0
    if idx > max(numbers):
        raise InvalidInput(
            f"the session has no message {idx}",
            hint=f"its messages are numbered {min(numbers)} to {max(numbers)}",
        )
    return numbers[min(numbers, key=lambda number: abs(number - idx))]


def _from_both_ends(count: int) -> tuple[Iterator[int], Iterator[int]]:
    middle = (count + 1) // 2
    return iter(range(middle)), iter(range(count - 1, middle - 1, -1))


def _from_the_middle(position: int, count: int) -> tuple[Iterator[int], Iterator[int]]:
    return iter(range(position, count)), iter(range(position - 1, -1, -1))


def _fill(
    entries: Sequence[Entry],
    orders: Sequence[Iterator[int]],
    position: int | None,
    room: TokenBudget,
) -> dict[int, str]:
    """Take entries from each order in turn. An order stops at its first that does not fit."""
    longest = max(50, room.left // 4)
    texts: dict[int, str] = {}
    open_orders = list(orders)
    while open_orders:
        for order in list(open_orders):
            each = next(order, None)
            if each is None:
                open_orders.remove(order)
                continue
            is_target = each == position
            text = _entry(entries[each], longest * 2 if is_target else longest, is_target)
            if not room.take(text):
                open_orders.remove(order)
                continue
            texts[each] = text
    return texts


def _entry(entry: Entry, tokens: int, with_thinking: bool) -> str:
    message, calls = entry
    lines = []
    if message is not None:
        at = message["timestamp"]
        time = "" if at is None else f", {at:%Y-%m-%d %H:%M} UTC"
        lines.append(f"message {message['idx']}, {message['role']}{time}:")
        if with_thinking and message["thinking"]:
            thinking = cut_to_tokens(mask(message["thinking"]), tokens // 2)
            lines.append(quoted(f"(thinking) {thinking}"))
        if message["content"]:
            lines.append(quoted(cut_to_tokens(mask(message["content"]), tokens)))
    lines += [_call(call) for call in calls[:MOST_CALLS]]
    if len(calls) > MOST_CALLS:
        lines.append(f"and {len(calls) - MOST_CALLS} more tool calls")
    return "\n".join(lines)


def _call(call: dict[str, Any]) -> str:
    argument = mask(call["bash_command"] or "")
    if not argument:
        values = masked_json(call["tool_input"])
        argument = values if isinstance(values, str) else json.dumps(values, ensure_ascii=False)
    name = one_line(call["tool_name"])
    return quoted(f"[{name}] {one_line(cut_to_tokens(argument, CALL_TOKENS))}")


def _gap(entries: Sequence[Entry], start: int, end: int) -> list[str]:
    numbers = [message["idx"] for message, _ in entries[start:end] if message is not None]
    if not numbers:
        return []
    if len(numbers) == 1:
        return [f"(message {numbers[0]} left out)"]
    return [f"(messages {numbers[0]} to {numbers[-1]} left out)"]
