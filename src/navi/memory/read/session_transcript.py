"""One session with all its messages and tool calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duckdb import CatalogException, DuckDBPyConnection

from navi.memory.read.session_lookup import Session, as_dicts, session

_CALLS = """
    SELECT id, message_id, message_idx, idx, tool_name, tool_input,
           bash_command, bash_base, bash_sub, is_compound, timestamp
    FROM tool_calls WHERE session_id = ? ORDER BY message_idx, idx
"""
_OUTPUTS = "SELECT message_idx, call_idx, excerpt FROM tool_outputs WHERE session_id = ?"
_MESSAGES = """
    SELECT id, idx, role, content, thinking, timestamp, has_thinking
    FROM messages WHERE session_id = ? ORDER BY idx
"""


@dataclass(frozen=True, slots=True)
class Transcript:
    session: Session
    parent_id: str | None
    """The session that started this one, or that it was forked from; None if none is indexed."""
    messages: list[dict[str, Any]]
    """Each has its `tool_calls`, and each call an excerpt of its `output`, if any."""
    orphan_calls: list[dict[str, Any]]
    """Calls outside messages, as all of Codex's are, and calls whose message is missing."""

    def with_calls(self) -> Iterator[tuple[dict[str, Any] | None, list[dict[str, Any]]]]:
        """Each message with the calls made in it or right after it.

        Calls before the first message come first, with None as their message.
        """
        orphans = deque(self.orphan_calls)
        for number, message in enumerate(self.messages):
            if number == 0 and (earlier_calls := _take_calls_until(orphans, message["timestamp"])):
                yield None, earlier_calls
            is_last = number + 1 == len(self.messages)
            until = None if is_last else self.messages[number + 1]["timestamp"]
            calls = list(orphans) if is_last else _take_calls_until(orphans, until)
            yield message, [*message["tool_calls"], *calls]
        if not self.messages and orphans:
            yield None, list(orphans)


def _take_calls_until(
    orphans: deque[dict[str, Any]], until: datetime | None
) -> list[dict[str, Any]]:
    """Remove and return the calls before `until`; none if `until` is None."""
    calls = []
    while orphans and until is not None:
        at = orphans[0]["timestamp"]
        if at is None or at >= until:
            break
        calls.append(orphans.popleft())
    return calls


def transcript(connection: DuckDBPyConnection, id: str) -> Transcript:
    row = session(connection, id)
    messages = as_dicts(connection.execute(_MESSAGES, [id]))
    calls_by_idx: dict[int, list[dict[str, Any]]] = {}
    orphans = []
    outputs = _outputs(connection, id)
    for call in as_dicts(connection.execute(_CALLS, [id])):
        message_idx = call.pop("message_idx")
        call["output"] = outputs.get((message_idx, call["idx"]))
        if message_idx is None:
            orphans.append(call)
        else:
            calls_by_idx.setdefault(message_idx, []).append(call)
    for message in messages:
        message["tool_calls"] = calls_by_idx.pop(message["idx"], [])
    orphans += [call for calls in calls_by_idx.values() for call in calls]
    return Transcript(row, _parent(connection, row), messages, orphans)


def _outputs(connection: DuckDBPyConnection, id: str) -> dict[tuple[int | None, int], str]:
    """Excerpts of outputs by message and call."""
    try:
        rows = connection.execute(_OUTPUTS, [id]).fetchall()
    except CatalogException:  # an earlier version made this index, and nothing was indexed since
        return {}
    return {(message_idx, call_idx): excerpt for message_idx, call_idx, excerpt in rows}


def _parent(connection: DuckDBPyConnection, child: Session) -> str | None:
    if child["parent_source_session_id"] is None:
        return None
    row = connection.execute(
        "SELECT id FROM sessions WHERE source = ? AND source_session_id = ? AND id <> ? "
        "ORDER BY is_subagent, started_at LIMIT 1",
        [child["source"], child["parent_source_session_id"], child["id"]],
    ).fetchone()
    return None if row is None else row[0]
