"""Turns: begin, extend, finish; and close one whose process died.

A turn belongs to whoever holds its session's lane. Every write names the fence of that ownership
and fails with `FenceLost` once somebody else took over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from navi.domain.errors import FenceLost
from navi.domain.event import Payload, TurnEvent, Usage, turn_event
from navi.domain.input import Origin, next_input
from navi.domain.message import Draft, Message, closed, drafts_of
from navi.domain.session import Step
from navi.domain.turn import SERVER_STOPPED, Ending, Outcome, RunningTurn, Turn
from navi.domain.user import User
from navi.domain.wire import input_json, session_json
from navi.store import events, queue, sessions, transcript, users
from navi.store.lanes import lock
from navi.store.tables import lanes, turns


@dataclass(frozen=True, slots=True)
class Begun:
    """A turn that is ours now, and what its agent needs to know."""

    turn: Turn
    user: User
    history: Sequence[Message]


def begin(
    connection: Connection,
    session_id: str,
    turn_id: str,
    owner: str,
    lease_until: datetime,
    now: datetime,
) -> Begun | None:
    """Take the lane and deliver the next input to a new turn; None if that isn't possible."""
    lane = lock(connection, session_id)
    if lane.turn_id == turn_id:
        return _begun_before(connection, session_id, turn_id, lane.fence)
    if lane.turn_id is not None:
        return None
    chosen = next_input(queue.heads(connection, session_id))
    if chosen is None:
        return None
    fence = lane.fence + 1
    connection.execute(
        update(lanes)
        .where(lanes.c.session_id == session_id)
        .values(turn_id=turn_id, fence=fence, owner=owner, lease_until=lease_until)
    )
    connection.execute(
        insert(turns).values(
            id=turn_id,
            session_id=session_id,
            fence=fence,
            origin=chosen.origin,
            event_count=0,
            input_tokens=0,
            output_tokens=0,
            cache_read_tokens=0,
            cache_creation_tokens=0,
            started_at=now,
        )
    )
    delivered = queue.deliver(connection, chosen.id, turn_id, now)
    transcript.add_input(connection, delivered, turn_id, now)
    sessions.move(connection, sessions.get(connection, session_id), Step.TURN_BEGINS, now)
    is_recall = delivered.origin is Origin.RECALL
    begun = _begun(connection, session_id, turn_id, fence, now)
    events.emit(
        connection,
        session_id,
        turn_id,
        [
            ("input_delivered", {"input": input_json(delivered)}),
            ("stream_start", {"origin": delivered.origin.value, "is_recall": is_recall}),
        ],
        now,
        fence=fence,
    )
    return begun


def extend(
    connection: Connection, turn: Turn, counted: int, happened: Sequence[TurnEvent], now: datetime
) -> None:
    """Store what happened. `counted` is how many events of this turn were stored before."""
    if not _count_events(connection, turn, counted, len(happened)):
        return
    events.emit(connection, turn.session.id, turn.id, _items(happened), now, fence=turn.fence)


def finish(
    connection: Connection,
    turn: Turn,
    counted: int,
    happened: Sequence[TurnEvent],
    drafts: Sequence[Draft],
    ending: Ending,
    usage: Usage,
    now: datetime,
) -> None:
    """Store the last events and the turn's messages, free the lane, and say how it ended."""
    if lock(connection, turn.session.id).turn_id != turn.id:
        if _ending(connection, turn.id) != ending:
            raise FenceLost(turn.session.id)
        return
    if not _count_events(connection, turn, counted, len(happened)):
        raise FenceLost(turn.session.id)
    connection.execute(
        update(turns)
        .where(turns.c.id == turn.id)
        .values(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_creation_tokens=usage.cache_creation_tokens,
        )
    )
    message_id = transcript.add_drafts(
        connection, turn.session.id, turn.id, turn.origin, drafts, now
    )
    _close(
        connection, turn.session.id, turn.id, turn.fence, _items(happened), ending, message_id, now
    )


def close_dead(connection: Connection, dead: RunningTurn, now: datetime) -> bool:
    """End a turn whose process is gone. If it produced nothing, its input waits again.

    False if somebody else was faster.
    """
    lane = lock(connection, dead.session_id)
    if lane.turn_id != dead.id or lane.fence != dead.fence:
        return False
    row = connection.execute(
        select(turns.c.event_count, turns.c.origin, turns.c.stop_reason).where(
            turns.c.id == dead.id
        )
    ).one()
    # Somebody had asked it to end: then it ended as wanted, and must not come back.
    was_to_stop = row.stop_reason is not None
    ending = Ending(Outcome.STOPPED) if was_to_stop else Ending(Outcome.ERROR, SERVER_STOPPED)
    message_id = None
    returned: list[tuple[str, Payload]] = []
    if row.event_count == 0 and not was_to_stop:
        transcript.take_back(connection, dead.session_id, dead.id)
        given_back = queue.give_back(connection, dead.id)
        returned = [("input_queued", {"input": input_json(each)}) for each in given_back]
    else:
        stored = events.read_turn(connection, dead.session_id, dead.id)
        happened = [turn_event(event.type, event.payload) for event in stored]
        drafts = closed(drafts_of(event for event in happened if event is not None), ending)
        message_id = transcript.add_drafts(
            connection, dead.session_id, dead.id, row.origin, drafts, now
        )
    _close(connection, dead.session_id, dead.id, dead.fence, [], ending, message_id, now, returned)
    return True


def _close(
    connection: Connection,
    session_id: str,
    turn_id: str,
    fence: int,
    items: list[tuple[str, Payload]],
    ending: Ending,
    message_id: str | None,
    now: datetime,
    afterwards: Sequence[tuple[str, Payload]] = (),
) -> None:
    connection.execute(
        update(turns)
        .where(turns.c.id == turn_id)
        .values(outcome=ending.outcome, error=ending.error, message_id=message_id, ended_at=now)
    )
    sessions.move(connection, sessions.get(connection, session_id), Step.TURN_ENDS, now)
    session = sessions.get(connection, session_id)
    end = {"outcome": ending.outcome.value, "message_id": message_id, "error": ending.error}
    last: list[tuple[str, Payload]] = [
        ("stream_end", end),
        ("session_sync", {"session": session_json(session)}),
    ]
    events.emit(connection, session_id, turn_id, [*items, *last], now, fence=fence)
    events.emit(connection, session_id, None, afterwards, now)
    connection.execute(
        update(lanes)
        .where(lanes.c.session_id == session_id)
        .values(turn_id=None, owner=None, lease_until=None)
    )


def _count_events(connection: Connection, turn: Turn, counted: int, more: int) -> bool:
    """False if these events were stored before, by a commit whose answer got lost."""
    return bool(
        connection.execute(
            update(turns)
            .where(turns.c.id == turn.id, turns.c.event_count == counted)
            .values(event_count=counted + more)
        ).rowcount
    )


def _ending(connection: Connection, turn_id: str) -> Ending | None:
    query = select(turns.c.outcome, turns.c.error).where(turns.c.id == turn_id)
    row = connection.execute(query).one_or_none()
    if row is None or row.outcome is None:
        return None
    return Ending(Outcome(row.outcome), row.error)


def _begun_before(connection: Connection, session_id: str, turn_id: str, fence: int) -> Begun:
    started_at = connection.execute(
        select(turns.c.started_at).where(turns.c.id == turn_id)
    ).scalar_one()
    return _begun(connection, session_id, turn_id, fence, started_at)


def _begun(
    connection: Connection, session_id: str, turn_id: str, fence: int, started_at: datetime
) -> Begun:
    session = sessions.get(connection, session_id)
    delivered = queue.delivered_to(connection, turn_id)
    return Begun(
        turn=Turn(turn_id, session, delivered, fence, started_at),
        user=users.get(connection, session.user_id, started_at),
        history=transcript.visible(connection, session_id, session.context_from_idx, turn_id),
    )


def _items(happened: Sequence[TurnEvent]) -> list[tuple[str, Payload]]:
    return [(event.type, event.payload()) for event in happened]
