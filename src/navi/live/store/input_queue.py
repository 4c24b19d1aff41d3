"""The queue of each session: admits, lists, edits, removes and delivers inputs.

Every input enters through `admit_all`, whether a person typed it or a recall came due.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from navi.base.errors import (
    Conflict,
    InputNotFound,
    NotAllowed,
    NotYours,
    SessionNotFound,
    SessionStopped,
)
from navi.live.model.access.quota import UNLIMITED, Limits
from navi.live.model.access.user import User
from navi.live.model.attention import after_input
from navi.live.model.input import (
    TOOL_CALL,
    Admission,
    DeliveryMode,
    Input,
    NewInput,
    Origin,
    delivery_order,
    joined_with,
    may_join,
    modes_before,
)
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import StopReason
from navi.live.model.wire_format import input_json, session_json
from navi.live.store.access import quotas
from navi.live.store.engine.dialects.registry import dialect_of
from navi.live.store.engine.tables import Instant, lanes, message_queue, sessions, turns
from navi.live.store.events import emit
from navi.live.store.lanes import NOT_PAUSED, Lane, lock, request_stop

SCHEDULED = (Origin.RECALL, Origin.AUTOMATION)
"""Origins whose inputs get their prompt when their turn begins."""

_INSERT = insert(message_queue)
_IS_WAITING = (
    message_queue.c.session_id == bindparam("session_id"),
    message_queue.c.delivered_at.is_(None),
)
_FIND = select(message_queue).where(message_queue.c.id == bindparam("input_id"))
_EXISTING = select(message_queue.c.id).where(
    message_queue.c.id.in_(bindparam("input_ids", expanding=True))
)
_NEXT_ORDINAL = (
    update(lanes)
    .where(lanes.c.session_id == bindparam("key"))
    .values(next_ordinal=lanes.c.next_ordinal + 1)
)
_TOUCH = (
    update(sessions)
    .where(sessions.c.id == bindparam("key"))
    .values(
        updated_at=bindparam("now", type_=Instant),
        unread=bindparam("is_unread"),
        archived=bindparam("is_archived"),
        notify_person=bindparam("notifies"),
    )
)
_WAITING_SINCE = func.coalesce(message_queue.c.not_before, message_queue.c.queued_at)
_SINCE = bindparam("since", type_=Instant)
_COUNT_AHEAD = (
    select(func.count())
    .select_from(message_queue)
    .where(
        *_IS_WAITING,
        or_(
            message_queue.c.delivery_mode.in_(bindparam("overtaking", expanding=True)),
            and_(
                message_queue.c.delivery_mode == bindparam("mode"),
                or_(
                    _WAITING_SINCE < _SINCE,
                    and_(_WAITING_SINCE == _SINCE, message_queue.c.ordinal < bindparam("ordinal")),
                ),
            ),
        ),
    )
)
_RANK = case(
    {mode.value: len(modes_before(mode)) for mode in DeliveryMode},
    value=message_queue.c.delivery_mode,
)
_NEXT = (
    select(message_queue)
    .where(
        *_IS_WAITING,
        message_queue.c.origin.in_(bindparam("origins", expanding=True)),
        or_(
            message_queue.c.not_before.is_(None),
            message_queue.c.not_before <= bindparam("now", type_=Instant),
        ),
        NOT_PAUSED,
    )
    .order_by(_RANK, _WAITING_SINCE, message_queue.c.ordinal)
    .limit(1)
)
_DELIVER = (
    update(message_queue)
    .where(message_queue.c.id == bindparam("input_id"))
    .values(
        delivered_at=bindparam("now"),
        turn_id=bindparam("to_turn"),
        limit_account=None,
        budget=None,
    )
)


def admit_all(
    connection: Connection, arrivals: Sequence[tuple[Lane, NewInput]], now: datetime
) -> list[Input]:
    """Store inputs, at most one per lane. An urgent input asks the running turn to end.

    The caller has locked the lanes and made sure that their sessions have not ended. Inputs that
    were admitted earlier are skipped, and left out of the result.
    """
    ids = [new.id for _, new in arrivals]
    existing = set(connection.execute(_EXISTING, {"input_ids": ids}).scalars())
    admitted = [
        (lane, _admitted(new, lane.next_ordinal, lane.clamp(now)))
        for lane, new in arrivals
        if new.id not in existing
    ]
    if not admitted:
        return []
    connection.execute(_INSERT, [_values(each) for _, each in admitted])
    connection.execute(_NEXT_ORDINAL, [{"key": each.session_id} for _, each in admitted])
    changed_sessions = [_after_admission(lane.session, each) for lane, each in admitted]
    connection.execute(_TOUCH, [_touch_values(session) for session in changed_sessions])
    for (lane, each), session in zip(admitted, changed_sessions, strict=True):
        if each.delivery_mode is DeliveryMode.URGENT and lane.turn_id is not None:
            request_stop(connection, each.session_id, StopReason.URGENT)
        _announce(connection, "input_queued", each, session.updated_at)
        if _marks(session) != _marks(lane.session):
            update_event = ("session_update", {"session": session_json(session)})
            emit(connection, session.id, None, [update_event], session.updated_at)
    return [each for _, each in admitted]


def admit_in_lane(
    connection: Connection,
    lane: Lane,
    new: NewInput,
    now: datetime,
    sender: User | None = None,
    limits: Limits = UNLIMITED,
) -> tuple[Admission, Input, Lane]:
    """Admit one input, if its sender, its session and the limits allow it.

    Returns the lane with the session as it is now.
    """
    if sender is not None and not sender.may_touch(lane.session.user_id):
        raise NotYours(new.session_id)
    if (existing := _find(connection, new.id)) is not None:
        return _repeated_admission(connection, existing, new), existing, lane
    if lane.session.state is SessionState.STOPPED:
        raise SessionStopped(new.session_id)
    (admitted,) = admit_all(connection, [(lane, new)], now)
    position = _position(connection, admitted)
    if position > 0:
        # Limits apply only to inputs that have others ahead of them.
        _require_room(connection, lane.session, limits)
    lane = replace(lane, session=_after_admission(lane.session, admitted))
    return Admission(new.id, delivered=False, position=position), admitted, lane


def admit(
    connection: Connection,
    new: NewInput,
    now: datetime,
    sender: User | None = None,
    limits: Limits = UNLIMITED,
) -> Admission:
    """Store an input without beginning its turn."""
    lane = lock(connection, new.session_id)
    admission, _, _ = admit_in_lane(connection, lane, new, now, sender, limits)
    return admission


def list_inputs(
    connection: Connection, session_id: str, origin: Origin | None = None
) -> list[Input]:
    """The undelivered inputs, optionally of one origin, in delivery order."""
    query = select(message_queue).where(*_IS_WAITING)
    if origin is not None:
        query = query.where(message_queue.c.origin == origin.value)
    rows = connection.execute(query, {"session_id": session_id})
    return delivery_order([_input(row) for row in rows])


def next_input(
    connection: Connection, session_id: str, origins: Collection[Origin], now: datetime
) -> Input | None:
    """The next input of these origins, if one may be delivered now."""
    values = {"session_id": session_id, "origins": sorted(origins), "now": now}
    row = connection.execute(_NEXT, values).one_or_none()
    return None if row is None else _input(row)


def exists(connection: Connection, input_id: str) -> bool:
    return _find(connection, input_id) is not None


def edit(
    connection: Connection,
    session_id: str,
    input_id: str,
    changes: dict[str, Any],
    now: datetime,
    caller_session_id: str | None = None,
) -> Input:
    """Change an undelivered input. Agents may reword only inputs that they sent themselves.

    `caller_session_id` is the calling agent's session; None if a person is calling.
    """
    lock(connection, session_id)
    current = _waiting_input(connection, session_id, input_id)
    if current.origin in SCHEDULED and "text" in changes:
        raise Conflict(
            "a scheduled input can't be reworded once it is queued",
            hint="remove it from the queue and schedule it again",
        )
    if caller_session_id not in (None, current.sender_session_id) and "text" in changes:
        raise NotAllowed("an agent can only reword inputs it has sent", hint="send a new input")
    connection.execute(
        update(message_queue).where(message_queue.c.id == input_id).values(**changes)
    )
    edited = _waiting_input(connection, session_id, input_id)
    if edited.delivery_mode is DeliveryMode.URGENT:
        request_stop(connection, session_id, StopReason.URGENT)
    _announce(connection, "input_queued", edited, now)
    return edited


def remove(connection: Connection, session_id: str, input_id: str, now: datetime) -> Input:
    """Remove an undelivered input."""
    lock(connection, session_id)
    removed = _waiting_input(connection, session_id, input_id)
    connection.execute(delete(message_queue).where(message_queue.c.id == input_id))
    emit(connection, session_id, None, [("input_removed", {"input_id": removed.id})], now)
    return removed


def remove_all(connection: Connection, session_id: str, now: datetime) -> list[Input]:
    """Empty the queue of a session that is ending."""
    rows = connection.execute(
        delete(message_queue)
        .where(message_queue.c.session_id == session_id, message_queue.c.delivered_at.is_(None))
        .returning(message_queue)
    )
    removed = sorted((_input(row) for row in rows), key=lambda each: each.ordinal)
    items = [("input_removed", {"input_id": each.id}) for each in removed]
    emit(connection, session_id, None, items, now)
    return removed


def forget_session(connection: Connection, session_id: str) -> None:
    """Delete all inputs, delivered or not, of a session that is being deleted."""
    turn_ids = select(turns.c.id).where(turns.c.session_id == session_id)
    is_waiting = and_(
        message_queue.c.session_id == session_id, message_queue.c.delivered_at.is_(None)
    )
    for condition in (is_waiting, message_queue.c.turn_id.in_(turn_ids)):
        connection.execute(delete(message_queue).where(condition))


def deliver(connection: Connection, chosen: Input, turn_id: str, now: datetime) -> Input:
    """Mark the input as delivered to the turn."""
    connection.execute(_DELIVER, {"input_id": chosen.id, "now": now, "to_turn": turn_id})
    return replace(chosen, delivered_at=now, turn_id=turn_id, limit_account=None, budget=None)


def record_prompt(connection: Connection, input: Input) -> None:
    """Record the prompt of the turn that begins with this input."""
    connection.execute(
        update(message_queue)
        .where(message_queue.c.id == input.id)
        .values(prompt=input.prompt, metadata=dict(input.metadata))
    )


def followers(connection: Connection, first: Input, now: datetime) -> list[Input]:
    """Other queued inputs that may join the turn of `first`, in delivery order."""
    if not may_join(first):
        return []
    others = [
        each
        for each in list_inputs(connection, first.session_id)
        if each.id != first.id and each.is_deliverable(now)
    ]
    return joined_with(first, others)


def delivered_to(connection: Connection, turn_id: str) -> list[Input]:
    """The inputs that began a turn, in delivery order; none if `give_back` queued them again.

    Nudges that reached the agent later, after a tool call, are left out.
    """
    query = select(message_queue).where(message_queue.c.turn_id == turn_id)
    delivered = [_input(row) for row in connection.execute(query)]
    return delivery_order([each for each in delivered if TOOL_CALL not in each.metadata])


def get(connection: Connection, session_id: str, input_id: str) -> Input:
    """The input, delivered or not."""
    match = _find(connection, input_id)
    if match is None or match.session_id != session_id:
        raise InputNotFound(input_id)
    return match


def admit_notice(connection: Connection, new: NewInput, now: datetime) -> bool:
    """Admit a notice to a session, while the caller holds the lane of another.

    False if it was admitted earlier, or if the receiving session has ended or was deleted.
    """
    try:
        lane = _lock_second_lane(connection, new.session_id)
    except SessionNotFound:
        return False
    if lane.session.state is SessionState.STOPPED:
        return False
    return bool(admit_all(connection, [(lane, new)], now))


def give_back(
    connection: Connection, turn_id: str, limit: tuple[str, datetime] | None = None
) -> list[Input]:
    """Requeue the inputs of a turn that produced nothing, in their old order.

    `limit` is the account whose limit they wait for, and when they may continue.
    """
    changes: dict[str, Any] = {
        "delivered_at": None,
        "turn_id": None,
        "prompt": case((message_queue.c.origin.in_(SCHEDULED), None), else_=message_queue.c.prompt),
    }
    if limit is not None:
        changes["limit_account"], changes["not_before"] = limit
    rows = connection.execute(
        update(message_queue)
        .where(message_queue.c.turn_id == turn_id)
        .values(**changes)
        .returning(message_queue)
    )
    return [_input(row) for row in rows]


def hold_inputs(
    connection: Connection,
    session_id: str,
    input_ids: Collection[str],
    account_id: str,
    until: datetime,
    now: datetime,
) -> None:
    """Make undelivered inputs wait for the limit of an account."""
    rows = connection.execute(
        update(message_queue)
        .where(message_queue.c.session_id == session_id, message_queue.c.id.in_(input_ids))
        .values(limit_account=account_id, not_before=until)
        .returning(message_queue)
    )
    for row in rows:
        _announce(connection, "input_queued", _input(row), now)


def release_inputs(
    connection: Connection, session_id: str, account_ids: Collection[str], now: datetime
) -> list[Input]:
    """Release undelivered inputs that wait for the limit of one of these accounts."""
    rows = connection.execute(
        update(message_queue)
        .where(
            message_queue.c.session_id == session_id,
            message_queue.c.delivered_at.is_(None),
            message_queue.c.limit_account.in_(account_ids),
        )
        .values(limit_account=None, not_before=now)
        .returning(message_queue)
    )
    return [_input(row) for row in rows]


def _after_admission(session: Session, admitted: Input) -> Session:
    """The session once the input is in its queue."""
    assert admitted.queued_at is not None
    session = after_input(session, admitted)
    return replace(session, updated_at=admitted.queued_at, has_queue=True)


def _touch_values(session: Session) -> dict[str, Any]:
    return {
        "key": session.id,
        "now": session.updated_at,
        "is_unread": session.unread,
        "is_archived": session.archived,
        "notifies": session.notify_person,
    }


def _marks(session: Session) -> tuple[bool, bool]:
    """The visible marks that an input may change: `notify_person` is not shown."""
    return session.unread, session.archived


def _require_room(connection: Connection, session: Session, limits: Limits) -> None:
    """Raise LimitReached if the input just admitted is one too many."""
    for quota, owner_id, limit in (
        (quotas.INPUTS_OF_SESSION, session.id, limits.waiting_inputs_per_session),
        (quotas.INPUTS, session.user_id, limits.waiting_inputs),
    ):
        quotas.require_room(connection, quota, owner_id, limit, just_added=1)


def _lock_second_lane(connection: Connection, session_id: str) -> Lane:
    """Lock a lane while another one is held.

    The transaction that holds the second lane may be waiting for the first. Giving up after a
    moment and repeating this one is faster than leaving the deadlock to the database.
    """
    with dialect_of(connection.dialect).brief_lock_wait(connection):
        return lock(connection, session_id)


def _repeated_admission(connection: Connection, existing: Input, new: NewInput) -> Admission:
    """The answer to a second request to admit the same input."""
    if existing.session_id != new.session_id or existing.text != new.text:
        raise Conflict(
            f"input {new.id} already exists with another text or session",
            hint="leave out input_id, or choose a new one",
        )
    if existing.delivered_at is not None:
        return Admission(existing.id, delivered=True, position=0)
    return Admission(existing.id, delivered=False, position=_position(connection, existing))


def _position(connection: Connection, admitted: Input) -> int:
    """How many inputs are ahead of this one in the queue."""
    since, ordinal = admitted.queue_order
    values = {
        "session_id": admitted.session_id,
        "overtaking": modes_before(admitted.delivery_mode),
        "mode": admitted.delivery_mode,
        "since": since,
        "ordinal": ordinal,
    }
    return connection.execute(_COUNT_AHEAD, values).scalar_one()


def _announce(connection: Connection, type_: str, subject: Input, now: datetime) -> None:
    emit(connection, subject.session_id, None, [(type_, {"input": input_json(subject)})], now)


def _waiting_input(connection: Connection, session_id: str, input_id: str) -> Input:
    match = _find(connection, input_id)
    if match is None or match.session_id != session_id or match.delivered_at is not None:
        raise InputNotFound(input_id)
    return match


def _find(connection: Connection, input_id: str) -> Input | None:
    row = connection.execute(_FIND, {"input_id": input_id}).one_or_none()
    return None if row is None else _input(row)


def _admitted(new: NewInput, ordinal: int, now: datetime) -> Input:
    fields = {name: getattr(new, name) for name in NewInput.__dataclass_fields__}
    return Input(**fields, ordinal=ordinal, queued_at=now)


def _values(admitted: Input) -> dict[str, Any]:
    fields = {column.name: getattr(admitted, column.name) for column in message_queue.columns}
    return {**fields, "metadata": dict(admitted.metadata)}


def _input(row: Row[Any]) -> Input:
    values = dict(row._mapping)
    return Input(
        **{
            **values,
            "delivery_mode": DeliveryMode(values["delivery_mode"]),
            "origin": Origin(values["origin"]),
        }
    )
