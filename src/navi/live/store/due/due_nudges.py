"""Nudges for agents that have not reported."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, select

from navi.live.model.input import Input
from navi.live.model.scheduling.reminder import (
    Nudge,
    Registration,
    after_nudge,
    nudge_due,
    nudge_input,
)
from navi.live.model.session import SessionState
from navi.live.store import input_queue
from navi.live.store.damage import set_aside
from navi.live.store.due.contract import Claimed
from navi.live.store.engine.tables import Instant, lanes, remind_registrations, sessions
from navi.live.store.lanes import Lane, lock
from navi.live.store.scheduling import compactions, reminders


def _claimable(*columns: Any) -> Any:
    # Skip sessions that are being written to; the scheduler retries in a moment.
    target = remind_registrations.c.target_session_id
    return (
        select(*columns)
        .join(sessions, sessions.c.id == target)
        .join(lanes, lanes.c.session_id == target)
        .where(
            remind_registrations.c.is_active,
            remind_registrations.c.due_at <= bindparam("until", type_=Instant),
        )
        .order_by(remind_registrations.c.due_at)
        .limit(bindparam("limit"))
        .with_for_update(
            key_share=True, of=[remind_registrations, sessions, lanes], skip_locked=True
        )
    )


_CLAIMABLE = _claimable(remind_registrations)
_FIRST = _claimable(remind_registrations.c.id, remind_registrations.c.target_session_id)


class DueNudges:
    name = "nudge"
    lead = timedelta(0)  # A report in the last second must still prevent the interruption.
    instants = (
        select(remind_registrations.c.due_at)
        .where(remind_registrations.c.is_active)
        .order_by(remind_registrations.c.due_at)
    )

    def claim(self, connection: Connection, now: datetime, until: datetime, limit: int) -> Claimed:
        rows = connection.execute(_CLAIMABLE, {"until": until, "limit": limit}).all()
        inputs: list[Input] = []
        user_ids = {}
        for row in rows:
            registration = reminders.registration_of(row)
            lane = lock(connection, registration.target_session_id)
            user_ids[lane.session.id] = lane.session.user_id
            inputs += _claim(connection, lane, registration, now)
        return Claimed(len(rows), inputs, user_ids)

    def first_due(self, connection: Connection, until: datetime) -> set_aside.Reference | None:
        row = connection.execute(_FIRST, {"until": until, "limit": 1}).one_or_none()
        return None if row is None else set_aside.Reference(row.id, row.target_session_id)

    def give_up(self, connection: Connection, row_id: str, why: str) -> None:
        changes, read = {"is_active": False}, reminders.registration_of
        set_aside.take_out(connection, remind_registrations, row_id, changes, read)


def _claim(
    connection: Connection, lane: Lane, registration: Registration, now: datetime
) -> list[Input]:
    session_id = lane.session.id
    if lane.session.state is SessionState.STOPPED:
        reminders.cancel(connection, session_id, now)
        return []
    if lane.session.waiting_for is not None:
        # The agent can't report while it waits for a person.
        reminders.change(connection, registration.reset(now), now)
        return []
    held_until = compactions.held_until(connection, session_id)
    if held_until is not None and now < held_until:
        reminders.postpone(connection, registration, held_until)
        return []
    if held_until is not None:
        # The compaction's end was never reported.
        compactions.forget(connection, session_id, held_until)
        reminders.change(connection, registration.reset(held_until), now)
        return []
    return _nudge(connection, lane, registration, now)


def _nudge(
    connection: Connection, lane: Lane, registration: Registration, now: datetime
) -> list[Input]:
    nudge = nudge_due(registration, now)
    inputs: list[Input] = []
    if nudge is not Nudge.NONE and not reminders.has_queued_nudge(connection, registration, nudge):
        if nudge is Nudge.HARD:
            # The hard nudge makes an undelivered soft one superfluous.
            reminders.remove_nudges(connection, registration, now)
        new = nudge_input(registration, nudge, interrupts=lane.turn_id is not None)
        inputs = input_queue.admit_all(connection, [(lane, new)], now)
    reminders.change(connection, after_nudge(registration, nudge, now), now)
    return inputs
