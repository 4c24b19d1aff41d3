"""The transcript: a session's messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from navi.live.model.event import Payload
from navi.live.model.input import Input, Origin
from navi.live.model.message import Draft, Message, MessageRole, Notice, ToolCall
from navi.live.model.scheduling.automation import HIDDEN_PREFIX
from navi.live.model.session import Session
from navi.live.model.wire_format import message_json, session_json, tool_call_json
from navi.live.store.engine.tables import lanes, messages, sessions
from navi.live.store.events import emit
from navi.live.store.lanes import Lane

SOURCE_FIELDS = ("automation_id", "automation_name", "automation_run_id")
"""Metadata that an answer copies from its input, so that clients can show where it came from."""

_INSERT = insert(messages)
_IN_CONTEXT = (
    messages.c.session_id == bindparam("session_id"),
    messages.c.idx >= bindparam("context_from_idx"),
)
_LAST_SUMMARY = (
    select(messages)
    .where(*_IN_CONTEXT, messages.c.compacted_up_to.is_not(None))
    .order_by(messages.c.idx.desc())
    .limit(1)
)
_BEFORE_TURN = (
    select(messages)
    .where(
        *_IN_CONTEXT,
        messages.c.idx > bindparam("after"),
        messages.c.compacted_up_to.is_(None),
        # DISTINCT FROM, because messages outside turns have no turn id.
        messages.c.turn_id.is_distinct_from(bindparam("turn_id")),
    )
    .order_by(messages.c.idx)
)


def add_input(connection: Connection, delivered: Input, idx: int, now: datetime) -> None:
    """Add the input's text as a message for the turn to answer. The message gets the input's id."""
    connection.execute(
        _INSERT,
        {
            "id": delivered.id,
            "session_id": delivered.session_id,
            "idx": idx,
            "turn_id": delivered.turn_id,
            "role": MessageRole.USER,
            "content": delivered.text,
            "thinking": "",
            "tool_calls": [],
            "is_recall": delivered.origin is Origin.RECALL,
            "source": delivered.origin,
            "metadata": dict(delivered.metadata),
            "compacted_up_to": None,
            "timestamp": now,
        },
    )


def add_drafts(
    connection: Connection,
    session: Session,
    turn_id: str,
    cause: Input,
    drafts: Sequence[Draft],
    first_idx: int,
    now: datetime,
) -> str:
    """Add the agent's messages, at least one. Returns the id of the last one."""
    source = {name: cause.metadata[name] for name in SOURCE_FIELDS if name in cause.metadata}
    model = {} if session.model is None else {"model": session.model}
    rows = [
        {
            # Derived from the turn's id, so that a turn can't store its messages twice.
            "id": f"{turn_id}.{number}",
            "session_id": session.id,
            "idx": first_idx + number - 1,
            "turn_id": turn_id,
            "role": draft.role,
            "content": draft.content,
            "thinking": draft.thinking,
            "tool_calls": [tool_call_json(call) for call in draft.tool_calls],
            "is_recall": cause.origin is Origin.RECALL,
            "source": cause.origin,
            "metadata": {**source, **model, **draft.metadata},
            "compacted_up_to": draft.compacted_up_to,
            "timestamp": now,
        }
        for number, draft in enumerate(drafts, start=1)
    ]
    connection.execute(_INSERT, rows)
    return str(rows[-1]["id"])


def add_notice(
    connection: Connection, session_id: str, notice: Notice, idx: int, now: datetime
) -> Message:
    """Add a notice outside any turn."""
    connection.execute(
        _INSERT,
        {
            "id": notice.id,
            "session_id": session_id,
            "idx": idx,
            "turn_id": None,
            "role": notice.role,
            "content": notice.content,
            "thinking": "",
            "tool_calls": [],
            "is_recall": False,
            "source": notice.source,
            "metadata": dict(notice.metadata),
            "compacted_up_to": None,
            "timestamp": now,
        },
    )
    query = select(messages).where(messages.c.id == notice.id)
    return _message(connection.execute(query).one())


def post(connection: Connection, lane: Lane, notice: Notice, now: datetime) -> None:
    """Add a notice at the end of the transcript and announce it. The session becomes unread."""
    session_id = lane.session.id
    message = add_notice(connection, session_id, notice, lane.next_idx, now)
    connection.execute(
        update(lanes).where(lanes.c.session_id == session_id).values(next_idx=lane.next_idx + 1)
    )
    added: list[tuple[str, Payload]] = [("message_added", {"message": message_json(message)})]
    if not lane.session.unread:
        is_session = sessions.c.id == session_id
        connection.execute(update(sessions).where(is_session).values(unread=True))
        session = replace(lane.session, unread=True)
        added.append(("session_update", {"session": session_json(session)}))
    emit(connection, session_id, None, added, now)


def replace_metadata(connection: Connection, message_id: str, metadata: Mapping[str, Any]) -> None:
    """Replace the message's metadata, if the message is already stored."""
    connection.execute(
        update(messages).where(messages.c.id == message_id).values(metadata=dict(metadata))
    )


def take_back(connection: Connection, turn_id: str) -> Sequence[int]:
    """Remove the messages of a turn that is being undone. Returns their indexes."""
    return (
        connection.execute(
            delete(messages).where(messages.c.turn_id == turn_id).returning(messages.c.idx)
        )
        .scalars()
        .all()
    )


def read(
    connection: Connection,
    session_id: str,
    after_idx: int = -1,
    before_idx: int | None = None,
    limit: int | None = None,
) -> list[Message]:
    """Messages between the two indexes, oldest first; with `limit`, only the newest of them."""
    query = select(messages).where(messages.c.session_id == session_id, messages.c.idx > after_idx)
    if before_idx is not None:
        query = query.where(messages.c.idx < before_idx)
    if limit is None:
        return [_message(row) for row in connection.execute(query.order_by(messages.c.idx))]
    rows = connection.execute(query.order_by(messages.c.idx.desc()).limit(limit)).all()
    return [_message(row) for row in reversed(rows)]


def first_idx(connection: Connection, turn_id: str) -> int | None:
    """The index of the turn's first message; None if it has no messages."""
    query = select(func.min(messages.c.idx)).where(messages.c.turn_id == turn_id)
    idx: int | None = connection.execute(query).scalar()
    return idx


def messages_since(
    connection: Connection, user_id: str, since: datetime, limit: int, message_limit: int
) -> str:
    """The messages in the user's visible sessions since `since`, as plain text, oldest first.

    Each message is cut after `message_limit` characters. If the total is more than `limit`
    characters, the oldest are left out.
    """
    query = (
        select(messages, sessions.c.name)
        .join(sessions, sessions.c.id == messages.c.session_id)
        .where(
            sessions.c.user_id == user_id,
            sessions.c.id.not_like(f"{HIDDEN_PREFIX}%"),
            messages.c.timestamp >= since,
            messages.c.role.in_([MessageRole.USER.value, MessageRole.ASSISTANT.value]),
            messages.c.content != "",
        )
        .order_by(messages.c.timestamp.desc(), messages.c.idx.desc())
        .limit(limit // 20)  # lines are rarely shorter than 20 characters
    )
    lines: list[str] = []
    left = limit
    for row in connection.execute(query):
        line = f"[{row.name}] {row.role}: {row.content[:message_limit]}"
        left -= len(line)
        if left < 0:
            break
        lines.append(line)
    return "\n".join(reversed(lines))


def find(connection: Connection, message_id: str) -> Message | None:
    query = select(messages).where(messages.c.id == message_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else _message(row)


def content(connection: Connection, message_id: str) -> str | None:
    query = select(messages.c.content).where(messages.c.id == message_id)
    return connection.execute(query).scalar()


def history_for(
    connection: Connection, session_id: str, context_from_idx: int, turn_id: str
) -> list[Message]:
    """The agent's history for this turn: the last summary, and the messages it doesn't replace."""
    parameters = {"session_id": session_id, "context_from_idx": context_from_idx}
    latest = connection.execute(_LAST_SUMMARY, parameters).one_or_none()
    summary = [] if latest is None else [_message(latest)]
    after = -1 if latest is None else latest.compacted_up_to
    rows = connection.execute(_BEFORE_TURN, {**parameters, "after": after, "turn_id": turn_id})
    return [*summary, *(_message(row) for row in rows)]


def _message(row: Row[*tuple[Any, ...]]) -> Message:
    # Unpacked by position, in table order, because a turn may read thousands of messages.
    (
        id_, session_id, idx, _turn_id, role, content, thinking, tool_calls, is_recall, source,
        metadata, compacted_up_to, timestamp,
    ) = row  # fmt: skip
    return Message(
        id=id_,
        session_id=session_id,
        idx=idx,
        role=MessageRole(role),
        content=content,
        thinking=thinking,
        tool_calls=tuple(ToolCall(**call) for call in tool_calls),
        is_recall=is_recall,
        source=source,
        metadata=metadata,
        timestamp=timestamp,
        compacted_up_to=compacted_up_to,
    )
