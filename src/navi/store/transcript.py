"""Messages: what was said in a session, for ever."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from navi.domain.input import Input, Origin
from navi.domain.message import Draft, Message, MessageRole, ToolCall
from navi.domain.wire import tool_call_json
from navi.store.tables import lanes, messages


def add_input(connection: Connection, delivered: Input, turn_id: str, now: datetime) -> None:
    """The input's words, as the message that the turn answers. It keeps the input's id."""
    (idx,) = _take_indexes(connection, delivered.session_id, 1)
    connection.execute(
        insert(messages).values(
            id=delivered.id,
            session_id=delivered.session_id,
            idx=idx,
            turn_id=turn_id,
            role=MessageRole.USER,
            content=delivered.text,
            thinking="",
            tool_calls=[],
            is_recall=delivered.origin is Origin.RECALL,
            source=delivered.origin,
            metadata=dict(delivered.metadata),
            timestamp=now,
        )
    )


def add_drafts(
    connection: Connection,
    session_id: str,
    turn_id: str,
    origin: str,
    drafts: Sequence[Draft],
    now: datetime,
) -> str | None:
    """What the agent said; returns the id of its last message."""
    if not drafts:
        return None
    indexes = _take_indexes(connection, session_id, len(drafts))
    rows = [
        {
            # Made from the turn, so that the same turn can't leave its messages twice.
            "id": f"{turn_id}.{number}",
            "session_id": session_id,
            "idx": idx,
            "turn_id": turn_id,
            "role": draft.role,
            "content": draft.content,
            "thinking": draft.thinking,
            "tool_calls": [tool_call_json(call) for call in draft.tool_calls],
            "is_recall": origin == Origin.RECALL,
            "source": origin,
            "metadata": dict(draft.metadata),
            "compacted_up_to": draft.compacted_up_to,
            "timestamp": now,
        }
        for number, (idx, draft) in enumerate(zip(indexes, drafts, strict=True), start=1)
    ]
    connection.execute(insert(messages), rows)
    return str(rows[-1]["id"])


def take_back(connection: Connection, session_id: str, turn_id: str) -> None:
    """Remove the messages of a turn that is as if it had never begun: they are the last ones."""
    removed = connection.execute(
        delete(messages).where(messages.c.turn_id == turn_id).returning(messages.c.idx)
    ).scalars()
    if (first := min(removed, default=None)) is not None:
        connection.execute(
            update(lanes).where(lanes.c.session_id == session_id).values(next_idx=first)
        )


def read(connection: Connection, session_id: str, after_idx: int = -1) -> list[Message]:
    query = (
        select(messages)
        .where(messages.c.session_id == session_id, messages.c.idx > after_idx)
        .order_by(messages.c.idx)
    )
    return [_message(row) for row in connection.execute(query)]


def visible(
    connection: Connection, session_id: str, context_from_idx: int, turn_id: str
) -> list[Message]:
    """What the agent still sees before this turn: the last summary, and all since then."""
    of_context = (messages.c.session_id == session_id, messages.c.idx >= context_from_idx)
    summary = connection.execute(
        select(messages)
        .where(*of_context, messages.c.compacted_up_to.is_not(None))
        .order_by(messages.c.idx.desc())
        .limit(1)
    ).one_or_none()
    later = (
        select(messages)
        .where(*of_context, messages.c.compacted_up_to.is_(None), messages.c.turn_id != turn_id)
        .order_by(messages.c.idx)
    )
    if summary is None:
        return [_message(row) for row in connection.execute(later)]
    later = later.where(messages.c.idx > summary.compacted_up_to)
    return [_message(row) for row in [summary, *connection.execute(later)]]


def count(connection: Connection, session_id: str) -> int:
    query = select(func.count()).select_from(messages).where(messages.c.session_id == session_id)
    return connection.execute(query).scalar_one()


def _take_indexes(connection: Connection, session_id: str, amount: int) -> range:
    following = connection.execute(
        update(lanes)
        .where(lanes.c.session_id == session_id)
        .values(next_idx=lanes.c.next_idx + amount)
        .returning(lanes.c.next_idx)
    ).scalar_one()
    return range(following - amount, following)


def _message(row: Row[Any]) -> Message:
    return Message(
        id=row.id,
        session_id=row.session_id,
        idx=row.idx,
        role=MessageRole(row.role),
        content=row.content,
        thinking=row.thinking,
        tool_calls=tuple(ToolCall(**call) for call in row.tool_calls),
        is_recall=row.is_recall,
        source=row.source,
        metadata=row._mapping["metadata"],
        timestamp=row.timestamp,
        compacted_up_to=row.compacted_up_to,
    )
