"""Delivers soft nudges to an agent while it works, between two of its tool calls."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, select, update

from navi.live.model.access.caller import Caller
from navi.live.model.hook_report import HookReport
from navi.live.model.input import TOOL_CALL, Input, Origin
from navi.live.model.scheduling.reminder import is_soft_nudge
from navi.live.model.wire_format import input_json
from navi.live.store import events, input_queue, sessions, terminals, transcript
from navi.live.store.engine.tables import lanes, message_queue, messages, turns
from navi.live.store.lanes import Lane, lock
from navi.live.store.scheduling import compactions

DELIVERY = "delivery_id"
"""The metadata key for the id of the `take` call that delivered a nudge."""
RECENT_MESSAGES = 8
"""How many messages to search for a nudge that was taken just now."""

_DELIVER = (
    update(message_queue)
    .where(message_queue.c.id == bindparam("input_id"))
    .values(
        delivered_at=bindparam("now"),
        turn_id=bindparam("to_turn"),
        metadata=bindparam("new_metadata", type_=message_queue.c.metadata.type),
    )
)
_RECENT = (
    select(messages.c.content, messages.c.metadata)
    .where(messages.c.session_id == bindparam("session_id"))
    .order_by(messages.c.idx.desc())
    .limit(RECENT_MESSAGES)
)
_PROGRESS = select(turns.c.event_count, turns.c.stop_reason).where(
    turns.c.id == bindparam("turn_id")
)


def take(
    connection: Connection,
    session_id: str,
    delivery_id: str,
    tool_call_id: str,
    now: datetime,
    *,
    fence: int | None = None,
) -> list[str]:
    """Deliver queued soft nudges to an agent that has just called a tool. Returns their texts.

    They become part of the running turn. A repeated call with the same `delivery_id` returns the
    same texts. The tool call's id would not do for this, because some models reuse such ids. With
    `fence`, nothing is delivered once another process has taken the session over.
    """
    if not _waiting_nudges(connection, session_id):
        return _texts_of(connection, session_id, delivery_id)
    lane = lock(connection, session_id)
    earlier = _texts_of(connection, session_id, delivery_id)
    nudges = _waiting_nudges(connection, session_id)
    if not nudges or not _can_receive(connection, lane, fence):
        return earlier
    now = max([lane.clamp(now), *(nudge.queued_at or now for nudge in nudges)])
    for idx, nudge in enumerate(nudges, start=lane.next_idx):
        metadata = {**nudge.metadata, TOOL_CALL: tool_call_id, DELIVERY: delivery_id}
        delivered = replace(nudge, delivered_at=now, turn_id=lane.turn_id, metadata=metadata)
        _deliver(connection, delivered, idx, now)
    connection.execute(
        update(lanes)
        .where(lanes.c.session_id == session_id)
        .values(next_idx=lane.next_idx + len(nudges))
    )
    return [*earlier, *(nudge.text for nudge in nudges)]


def take_for_agent(
    connection: Connection, sender: Caller, report: HookReport, delivery_id: str, now: datetime
) -> list[str]:
    """`take`, for an agent whose hook reports that it has just used a tool."""
    session_id = terminals.session_id_of(connection, report.agent_session_id)
    if session_id is None or report.tool_call_id is None:
        return []
    terminals.require_reporter(sender, sessions.get(connection, session_id))
    return take(connection, session_id, delivery_id, report.tool_call_id, now)


def _waiting_nudges(connection: Connection, session_id: str) -> list[Input]:
    reminders = input_queue.list_inputs(connection, session_id, Origin.REMINDER)
    return [each for each in reminders if is_soft_nudge(each)]


def _texts_of(connection: Connection, session_id: str, delivery_id: str) -> list[str]:
    """The texts already delivered under this id, by a commit whose reply got lost."""
    recent = connection.execute(_RECENT, {"session_id": session_id}).all()
    return [row.content for row in reversed(recent) if row.metadata.get(DELIVERY) == delivery_id]


def _can_receive(connection: Connection, lane: Lane, fence: int | None) -> bool:
    if compactions.held_until(connection, lane.session.id) is not None:
        return False
    if lane.turn_id is None:
        # What a person does in their own terminal is not one of Navi's turns.
        return fence is None and terminals.is_open(connection, lane.session)
    if fence is not None and lane.fence != fence:
        return False
    # A turn that has produced nothing may be undone, and its nudges would be delivered twice. A
    # turn with a stop request may never read them.
    turn = connection.execute(_PROGRESS, {"turn_id": lane.turn_id}).one()
    return turn.event_count > 0 and turn.stop_reason is None


def _deliver(connection: Connection, delivered: Input, idx: int, now: datetime) -> None:
    if delivered.turn_id is None:
        # A delivered input needs a turn. Without one, only the transcript keeps the nudge.
        connection.execute(delete(message_queue).where(message_queue.c.id == delivered.id))
    else:
        values = {
            "input_id": delivered.id,
            "now": now,
            "to_turn": delivered.turn_id,
            "new_metadata": delivered.metadata,
        }
        connection.execute(_DELIVER, values)
    transcript.add_input(connection, delivered, idx, now)
    event = ("input_delivered", {"input": input_json(delivered)})
    events.emit(connection, delivered.session_id, delivered.turn_id, [event], now)
