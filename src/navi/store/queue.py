"""Inputs that wait: admit, list, edit, remove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from navi.domain.errors import (
    Conflict,
    InputNotFound,
    NotYours,
    SessionNotFound,
    SessionStopped,
)
from navi.domain.input import (
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
from navi.domain.session import SessionState
from navi.domain.turn import StopReason
from navi.domain.user import User
from navi.domain.wire import input_json, instant
from navi.store.bulk import insert_rows
from navi.store.events import emit
from navi.store.lanes import Lane, lock, request_stop
from navi.store.tables import lanes, message_queue, sessions, turns

SECOND_LANE_MILLISECONDS = 50

_INSERT = insert(message_queue)
_IS_WAITING = (
    message_queue.c.session_id == bindparam("session_id"),
    message_queue.c.delivered_at.is_(None),
)
_FIND = select(message_queue).where(message_queue.c.id == bindparam("input_id"))
_NEXT_ORDINAL = (
    update(lanes)
    .where(lanes.c.session_id == bindparam("key"))
    .values(next_ordinal=lanes.c.next_ordinal + 1)
)
_TOUCH = (
    update(sessions)
    .where(sessions.c.id == bindparam("session_id"))
    .values(updated_at=bindparam("now"))
)
_BEFORE = (
    select(func.count())
    .select_from(message_queue)
    .where(
        *_IS_WAITING,
        or_(
            message_queue.c.delivery_mode.in_(bindparam("overtaking", expanding=True)),
            and_(
                message_queue.c.delivery_mode == bindparam("mode"),
                message_queue.c.ordinal < bindparam("ordinal"),
            ),
        ),
    )
)
_HEADS = select(message_queue).where(
    *_IS_WAITING,
    message_queue.c.ordinal.in_(
        select(func.min(message_queue.c.ordinal))
        .where(*_IS_WAITING)
        .group_by(message_queue.c.delivery_mode, message_queue.c.origin)
    ),
)
_DELIVER = (
    update(message_queue)
    .where(message_queue.c.id == bindparam("input_id"))
    .values(delivered_at=bindparam("now"), turn_id=bindparam("to_turn"))
)


def admit(
    connection: Connection, new: NewInput, now: datetime, sender: User | None = None
) -> Admission:
    """Make the input durable, if the sender may. An urgent one asks the running turn to end."""
    admission, _ = keep(connection, lock(connection, new.session_id), new, now, sender)
    return admission


def keep(
    connection: Connection, lane: Lane, new: NewInput, now: datetime, sender: User | None
) -> tuple[Admission, Input]:
    """`admit`, for a lane that is locked already; also the input as it is kept."""
    if sender is not None and not sender.may_touch(lane.session.user_id):
        raise NotYours(new.session_id)
    now = lane.not_before(now)
    if (known := _find(connection, new.id)) is not None:
        return _known_admission(connection, known, new), known
    if lane.session.state is SessionState.STOPPED:
        raise SessionStopped(new.session_id)
    kept = _admitted(new, lane.next_ordinal, now)
    connection.execute(_INSERT, _values(kept))
    connection.execute(_NEXT_ORDINAL, {"key": new.session_id})
    connection.execute(_TOUCH, {"session_id": new.session_id, "now": now})
    if new.delivery_mode is DeliveryMode.URGENT and lane.turn_id is not None:
        request_stop(connection, new.session_id, StopReason.URGENT)
    position = _position(connection, kept)
    _announce(connection, "input_queued", kept, now)
    return Admission(new.id, delivered=False, position=position), kept


@dataclass(frozen=True, slots=True)
class Draft:
    """An input whose row and event are made, except for its place and its time."""

    row: tuple[Any, ...]
    told: dict[str, Any]


def draft(new: NewInput) -> Draft:
    kept = _admitted(new, 0, None)
    values = _values(kept)
    values |= {"delivery_mode": new.delivery_mode.value, "origin": new.origin.value}
    return Draft(tuple(values.values()), input_json(kept))


def insert_drafts(
    connection: Connection, placed: Sequence[tuple[Draft, int]], now: datetime
) -> list[dict[str, Any]]:
    """Insert many, each with its ordinal; what is to be told of each.

    The caller has locked and counted up their lanes. A draft is used for one input only.
    """
    shown = instant(now)
    rows, told = [], []
    for made, ordinal in placed:
        id_, session_id, _, *middle, _, _, _ = made.row
        rows.append((id_, session_id, ordinal, *middle, now, None, None))
        made.told["queued_at"] = shown
        told.append(made.told)
    insert_rows(connection, message_queue, rows)
    return told


def waiting(connection: Connection, session_id: str, origin: Origin | None = None) -> list[Input]:
    """The undelivered inputs, perhaps of one origin, in the order of delivery."""
    query = select(message_queue).where(*_IS_WAITING)
    if origin is not None:
        query = query.where(message_queue.c.origin == origin.value)
    rows = connection.execute(query, {"session_id": session_id})
    return delivery_order([_input(row) for row in rows])


def heads(connection: Connection, session_id: str) -> list[Input]:
    """The first waiting input of each delivery mode and origin: one of them is next."""
    return [_input(row) for row in connection.execute(_HEADS, {"session_id": session_id})]


def is_known(connection: Connection, input_id: str) -> bool:
    return _find(connection, input_id) is not None


def edit(
    connection: Connection,
    session_id: str,
    input_id: str,
    changes: dict[str, Any],
    now: datetime,
) -> Input:
    """Change an input that was not delivered yet."""
    lock(connection, session_id)
    if _waiting_input(connection, session_id, input_id).prompt is not None and "text" in changes:
        raise Conflict(
            "what was scheduled can't be reworded any more",
            hint="take it out of the queue and schedule it anew",
        )
    connection.execute(
        update(message_queue).where(message_queue.c.id == input_id).values(**changes)
    )
    edited = _waiting_input(connection, session_id, input_id)
    if edited.delivery_mode is DeliveryMode.URGENT:
        request_stop(connection, session_id, StopReason.URGENT)
    _announce(connection, "input_queued", edited, now)
    return edited


def remove(connection: Connection, session_id: str, input_id: str, now: datetime) -> Input:
    lock(connection, session_id)
    removed = _waiting_input(connection, session_id, input_id)
    connection.execute(delete(message_queue).where(message_queue.c.id == input_id))
    emit(connection, session_id, None, [("input_removed", {"input_id": removed.id})], now)
    return removed


def remove_all(connection: Connection, session_id: str, now: datetime) -> list[Input]:
    """Empty the queue of a session that ends."""
    rows = connection.execute(
        delete(message_queue)
        .where(message_queue.c.session_id == session_id, message_queue.c.delivered_at.is_(None))
        .returning(message_queue)
    )
    removed = sorted((_input(row) for row in rows), key=lambda each: each.ordinal)
    gone = [("input_removed", {"input_id": each.id}) for each in removed]
    emit(connection, session_id, None, gone, now)
    return removed


def forget_session(connection: Connection, session_id: str) -> None:
    """Delete all inputs of a session that is deleted: those that wait and those that had turns."""
    of_its_turns = select(turns.c.id).where(turns.c.session_id == session_id)
    is_waiting = and_(
        message_queue.c.session_id == session_id, message_queue.c.delivered_at.is_(None)
    )
    for condition in (is_waiting, message_queue.c.turn_id.in_(of_its_turns)):
        connection.execute(delete(message_queue).where(condition))


def deliver(connection: Connection, chosen: Input, turn_id: str, now: datetime) -> Input:
    connection.execute(_DELIVER, {"input_id": chosen.id, "now": now, "to_turn": turn_id})
    return replace(chosen, delivered_at=now, turn_id=turn_id)


def followers(connection: Connection, first: Input) -> list[Input]:
    """What else waits and may join it, in the order of delivery."""
    if not may_join(first):
        return []
    others = [each for each in waiting(connection, first.session_id) if each.id != first.id]
    return joined_with(first, others)


def delivered_to(connection: Connection, turn_id: str) -> list[Input]:
    """The inputs that began a turn, in the order of delivery: at least one."""
    query = select(message_queue).where(message_queue.c.turn_id == turn_id)
    delivered = [_input(row) for row in connection.execute(query)]
    return delivery_order([each for each in delivered if TOOL_CALL not in each.metadata])


def find(connection: Connection, session_id: str, input_id: str) -> Input:
    """Whether it waits or was delivered."""
    found = _find(connection, input_id)
    if found is None or found.session_id != session_id:
        raise InputNotFound(input_id)
    return found


def tell(connection: Connection, new: NewInput, now: datetime) -> bool:
    """Admit what one session has to say to another; False if that is known, or ended, or gone."""
    try:
        lane = _second_lane(connection, new.session_id)
    except SessionNotFound:
        return False
    if lane.session.state is SessionState.STOPPED or _find(connection, new.id) is not None:
        return False
    keep(connection, lane, new, now, None)
    return True


def give_back(connection: Connection, turn_id: str) -> list[Input]:
    """The inputs of a turn that produced nothing wait again, in their old places."""
    rows = connection.execute(
        update(message_queue)
        .where(message_queue.c.turn_id == turn_id)
        .values(delivered_at=None, turn_id=None)
        .returning(message_queue)
    )
    return [_input(row) for row in rows]


def _second_lane(connection: Connection, session_id: str) -> Lane:
    """Lock a lane while another one is held.

    Whoever holds this one may be waiting for that one. PostgreSQL would find out after a second;
    waiting only a moment, and then starting all over, is quicker.
    """
    if connection.dialect.name != "postgresql":
        return lock(connection, session_id)
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {SECOND_LANE_MILLISECONDS}")
    lane = lock(connection, session_id)
    connection.exec_driver_sql("SET LOCAL lock_timeout TO DEFAULT")
    return lane


def _known_admission(connection: Connection, known: Input, new: NewInput) -> Admission:
    """The answer to an input that was sent before."""
    if known.session_id != new.session_id or known.text != new.text:
        raise Conflict(
            f"an input {new.id} with another text or session was admitted before",
            hint="leave out input_id, or choose a new one",
        )
    if known.delivered_at is not None:
        return Admission(known.id, delivered=True, position=0)
    return Admission(known.id, delivered=False, position=_position(connection, known))


def _position(connection: Connection, admitted: Input) -> int:
    asked = {
        "session_id": admitted.session_id,
        "overtaking": modes_before(admitted.delivery_mode),
        "mode": admitted.delivery_mode,
        "ordinal": admitted.ordinal,
    }
    return connection.execute(_BEFORE, asked).scalar_one()


def _announce(connection: Connection, type_: str, subject: Input, now: datetime) -> None:
    emit(connection, subject.session_id, None, [(type_, {"input": input_json(subject)})], now)


def _waiting_input(connection: Connection, session_id: str, input_id: str) -> Input:
    found = _find(connection, input_id)
    if found is None or found.session_id != session_id or found.delivered_at is not None:
        raise InputNotFound(input_id)
    return found


def _find(connection: Connection, input_id: str) -> Input | None:
    row = connection.execute(_FIND, {"input_id": input_id}).one_or_none()
    return None if row is None else _input(row)


def _admitted(new: NewInput, ordinal: int, now: datetime | None) -> Input:
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
