"""One-off reminders that are due."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, select

from navi.live.model.input import Input
from navi.live.model.scheduling.reminder import ReminderStatus, reminder_input
from navi.live.model.session import SessionState
from navi.live.store import input_queue
from navi.live.store.damage import set_aside
from navi.live.store.due.contract import Claimed
from navi.live.store.engine.tables import Instant, lanes, scheduled_reminders, sessions
from navi.live.store.lanes import lock
from navi.live.store.scheduling import compactions, one_time_reminders

PAUSE = timedelta(minutes=5)
"""How long to postpone the reminder of a session that waits for a person."""


def _claimable(*columns: Any) -> Any:
    # Skip sessions that are being written to; the scheduler retries in a moment.
    return (
        select(*columns)
        .join(sessions, sessions.c.id == scheduled_reminders.c.session_id)
        .join(lanes, lanes.c.session_id == scheduled_reminders.c.session_id)
        .where(
            one_time_reminders.IS_PENDING,
            scheduled_reminders.c.due_at <= bindparam("until", type_=Instant),
        )
        .order_by(scheduled_reminders.c.due_at)
        .limit(bindparam("limit"))
        .with_for_update(
            key_share=True, of=[scheduled_reminders, sessions, lanes], skip_locked=True
        )
    )


_CLAIMABLE = _claimable(scheduled_reminders)
_FIRST = _claimable(scheduled_reminders.c.id, scheduled_reminders.c.session_id)


class DueReminders:
    name = "reminder"
    lead = timedelta(0)  # It interrupts the session, so it must not be early.
    instants = (
        select(scheduled_reminders.c.due_at)
        .where(one_time_reminders.IS_PENDING)
        .order_by(scheduled_reminders.c.due_at)
    )

    def claim(self, connection: Connection, now: datetime, until: datetime, limit: int) -> Claimed:
        rows = connection.execute(_CLAIMABLE, {"until": until, "limit": limit}).all()
        inputs: list[Input] = []
        user_ids = {}
        for row in rows:
            reminder = one_time_reminders.reminder_of(row)
            lane = lock(connection, reminder.session_id)
            user_ids[lane.session.id] = lane.session.user_id
            held_until = compactions.held_until(connection, reminder.session_id)
            if lane.session.state is SessionState.STOPPED:
                one_time_reminders.set_status(connection, reminder, ReminderStatus.CANCELLED, now)
            elif lane.session.waiting_for is not None:
                # It would interrupt the turn that asks. An answer restores its original time.
                one_time_reminders.move(connection, reminder, now + PAUSE)
            elif held_until is not None and held_until > now:
                one_time_reminders.move(connection, reminder, held_until)
            else:
                inputs += input_queue.admit_all(connection, [(lane, reminder_input(reminder))], now)
                one_time_reminders.set_status(connection, reminder, ReminderStatus.FIRED, now)
        return Claimed(len(rows), inputs, user_ids)

    def first_due(self, connection: Connection, until: datetime) -> set_aside.Reference | None:
        row = connection.execute(_FIRST, {"until": until, "limit": 1}).one_or_none()
        return None if row is None else set_aside.Reference(row.id, row.session_id)

    def give_up(self, connection: Connection, row_id: str, why: str) -> None:
        changes, read = {"status": ReminderStatus.CANCELLED}, one_time_reminders.reminder_of
        set_aside.take_out(connection, scheduled_reminders, row_id, changes, read)
