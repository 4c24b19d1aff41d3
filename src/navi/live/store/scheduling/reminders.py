"""Periodic reminders: registers, resets and cancels them, and removes their queued nudges.

A function that does not lock the session's lane expects its caller to hold it. `due_nudges.py`
sends the nudges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from navi.base.errors import SessionStopped
from navi.live.model.input import Input, Origin
from navi.live.model.scheduling.reminder import NoRegistration, Nudge, Registration
from navi.live.model.session import SessionState
from navi.live.model.turn import SERVER_STOPPED, Ending, Outcome, StopReason
from navi.live.model.wire_format import registration_json
from navi.live.store import input_queue
from navi.live.store.engine import signals
from navi.live.store.engine.tables import message_queue, remind_registrations
from navi.live.store.events import emit
from navi.live.store.lanes import lock
from navi.live.store.scheduling import compactions, one_time_reminders

_FIELDS = tuple(field.name for field in fields(Registration))
_ACTIVE = select(remind_registrations).where(
    remind_registrations.c.target_session_id == bindparam("session_id"),
    remind_registrations.c.is_active,
)


def register(connection: Connection, new: Registration) -> Registration:
    """Remind the session from now on, replacing its earlier registration."""
    lane = lock(connection, new.target_session_id)
    if (existing := _find(connection, new.id)) is not None:
        # Already registered by a commit whose reply got lost.
        return existing
    if lane.session.state is SessionState.STOPPED:
        raise SessionStopped(new.target_session_id)
    _activate(connection, new)
    return new


def register_delivered(connection: Connection, delivered: Sequence[Input], now: datetime) -> None:
    """Start the reminder that a delivered message asks for. If several do, the last one counts."""
    requests = [each for each in delivered if each.remind_soft_threshold is not None]
    if not requests:
        return
    last = requests[-1]
    assert last.remind_soft_threshold is not None
    assert last.remind_hard_threshold is not None
    _activate(
        connection,
        Registration(
            id=_id_for(last),
            target_session_id=last.session_id,
            soft_threshold_seconds=last.remind_soft_threshold,
            hard_threshold_seconds=last.remind_hard_threshold,
            registered_at=now,
            last_reset_at=now,
        ),
    )


def turn_undone(
    connection: Connection, session_id: str, requeued: Sequence[Input], now: datetime
) -> None:
    """Adjust reminders after a turn that was undone.

    The reminder of a requeued task starts again when the task is delivered. Any other registration
    of the session gets a full period.
    """
    end_compaction(connection, session_id, now)
    registration = active(connection, session_id)
    if registration is None:
        return
    if registration.id in {_id_for(each) for each in requeued}:
        cancel(connection, session_id, now)
    else:
        reset(connection, session_id, now)


def active(connection: Connection, session_id: str) -> Registration | None:
    row = connection.execute(_ACTIVE, {"session_id": session_id}).one_or_none()
    return None if row is None else registration_of(row)


def reset(connection: Connection, session_id: str, at: datetime) -> None:
    """Start a new period, for example after a report, and remove the old period's nudges."""
    registration = active(connection, session_id)
    if registration is None or at < registration.last_reset_at:
        return
    remove_nudges(connection, registration, at)
    change(connection, registration.reset(at), at)


def stop(connection: Connection, session_id: str, now: datetime) -> Registration:
    """Stop reminding the session, on request."""
    lock(connection, session_id)
    cancelled = cancel(connection, session_id, now)
    if cancelled is None:
        raise NoRegistration(session_id)
    return cancelled


def cancel(
    connection: Connection, session_id: str, now: datetime, *, as_of: datetime | None = None
) -> Registration | None:
    """Stop reminding the session and remove its nudges. Returns the ended registration, if any.

    With `as_of`, a registration made later stays.
    """
    registration = active(connection, session_id)
    if registration is None or (as_of is not None and as_of < registration.registered_at):
        return None
    _deactivate(connection, session_id, now)
    _announce(connection, session_id, None, now)
    return registration


def turn_ended(
    connection: Connection, session_id: str, ending: Ending, stop_reason: str | None, now: datetime
) -> None:
    """Stop reminding an agent whose turn has ended.

    Reminders continue if an urgent input ended the turn, because the work continues, and if the
    server died, because the agent had not finished. They also continue if the session was cleared:
    `clear` has stopped the old ones, so any that exist now were started for the next task.
    """
    end_compaction(connection, session_id, now)
    was_stopped = ending.outcome is Outcome.STOPPED
    if was_stopped and stop_reason in (StopReason.URGENT, StopReason.CLEARED):
        return
    if ending.error == SERVER_STOPPED:
        return
    cancel(connection, session_id, now)


def end_compaction(connection: Connection, session_id: str, at: datetime) -> None:
    """Forget the agent's compaction and restart its reminders. Does nothing if it had none."""
    if compactions.held_until(connection, session_id) is None:
        return
    lock(connection, session_id)
    compactions.forget(connection, session_id, at)
    reset(connection, session_id, at)
    one_time_reminders.pull_forward(connection, session_id, at)


def has_queued_nudge(connection: Connection, registration: Registration, nudge: Nudge) -> bool:
    """Whether a nudge as hard as this one, or harder, is still queued."""
    return any(
        each.metadata.get("nudge") in (nudge.value, Nudge.HARD.value)
        for each in waiting_nudges(connection, registration)
    )


def waiting_nudges(connection: Connection, registration: Registration) -> list[Input]:
    return [
        each
        for each in input_queue.list_inputs(
            connection, registration.target_session_id, Origin.REMINDER
        )
        if each.metadata.get("registration_id") == registration.id
    ]


def remove_nudges(connection: Connection, registration: Registration, now: datetime) -> None:
    ids = [each.id for each in waiting_nudges(connection, registration)]
    if not ids:
        return
    connection.execute(delete(message_queue).where(message_queue.c.id.in_(ids)))
    removed = [("input_removed", {"input_id": input_id}) for input_id in ids]
    emit(connection, registration.target_session_id, None, removed, now)


def _id_for(task: Input) -> str:
    """The id of a task's registration: the same however often the task is delivered."""
    return f"{task.id}.remind"


def _activate(connection: Connection, new: Registration) -> None:
    """Replace the active registration, and an inactive one from an earlier delivery of the task."""
    _deactivate(connection, new.target_session_id, new.registered_at)
    connection.execute(delete(remind_registrations).where(remind_registrations.c.id == new.id))
    connection.execute(insert(remind_registrations).values(**_values(new)))
    _announce(connection, new.target_session_id, new, new.registered_at)


def _deactivate(connection: Connection, session_id: str, now: datetime) -> None:
    registration = active(connection, session_id)
    if registration is None:
        return
    remove_nudges(connection, registration, now)
    connection.execute(
        update(remind_registrations)
        .where(remind_registrations.c.id == registration.id)
        .values(is_active=False)
    )


def postpone(connection: Connection, registration: Registration, until: datetime) -> None:
    """Send the next nudge at `until` instead."""
    connection.execute(
        update(remind_registrations)
        .where(remind_registrations.c.id == registration.id)
        .values(due_at=until)
    )


def change(connection: Connection, changed: Registration, now: datetime) -> None:
    connection.execute(
        update(remind_registrations)
        .where(remind_registrations.c.id == changed.id)
        .values(**_values(changed))
    )
    _announce(connection, changed.target_session_id, changed, now)


def _announce(
    connection: Connection, session_id: str, registration: Registration | None, now: datetime
) -> None:
    """Announce the registration and wake the schedulers: it may be the next one due."""
    remind = None if registration is None else registration_json(registration)
    emit(connection, session_id, None, [("remind_update", {"remind": remind})], now)
    if registration is not None:
        signals.send(connection, signals.CLOCK)


def _find(connection: Connection, registration_id: str) -> Registration | None:
    query = select(remind_registrations).where(remind_registrations.c.id == registration_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else registration_of(row)


def _values(registration: Registration) -> dict[str, Any]:
    values = {name: getattr(registration, name) for name in _FIELDS}
    return {**values, "due_at": registration.due_at}


def registration_of(row: Row[Any]) -> Registration:
    return Registration(**{name: getattr(row, name) for name in _FIELDS})
