"""Automations that are due."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, func, literal, or_, select

from navi.live.model.scheduling.automation import HIDDEN_PREFIX, Ended, plan
from navi.live.store import input_queue
from navi.live.store.damage import set_aside
from navi.live.store.due.contract import Claimed
from navi.live.store.engine.tables import Instant, automations, lanes, sessions
from navi.live.store.lanes import lock
from navi.live.store.scheduling import automation_runs
from navi.live.store.scheduling.automations import automation_of

_SESSION_ID = func.coalesce(
    automations.c.session_key, literal(HIDDEN_PREFIX).concat(automations.c.id)
)
_IS_DUE = (
    automations.c.next_run_at <= bindparam("until", type_=Instant),
    # Don't claim early while a run is active: it may end before the next one is due.
    or_(
        automations.c.active_run_state.is_(None),
        automations.c.next_run_at <= bindparam("now", type_=Instant),
    ),
)


def _claimable(*columns: Any) -> Any:
    # Skip sessions that are being written to; the scheduler retries in a moment.
    return (
        select(*columns)
        .join(sessions, sessions.c.id == _SESSION_ID)
        .join(lanes, lanes.c.session_id == _SESSION_ID)
        .where(*_IS_DUE)
        .order_by(automations.c.next_run_at, automations.c.id)
        .limit(bindparam("limit"))
        .with_for_update(key_share=True, of=[automations, sessions, lanes], skip_locked=True)
    )


_CLAIMABLE = _claimable(automations)
_FIRST = _claimable(automations.c.id, _SESSION_ID.label("session_id"))


class DueAutomations:
    name = "automation"
    lead = timedelta(seconds=1)
    instants = (
        select(automations.c.next_run_at)
        .where(automations.c.next_run_at.is_not(None))
        .order_by(automations.c.next_run_at)
    )

    def __init__(self, keep_runs: int) -> None:
        self._keep_runs = keep_runs

    def claim(self, connection: Connection, now: datetime, until: datetime, limit: int) -> Claimed:
        values = {"now": now, "until": until, "limit": limit}
        rows = connection.execute(_CLAIMABLE, values).all()
        inputs, user_ids = [], {}
        for row in rows:
            automation = automation_of(row)
            assert automation.next_run_at is not None
            lane = lock(connection, automation.session_id)
            user_ids[lane.session.id] = lane.session.user_id
            queued_at = lane.clamp(now)
            new = automation_runs.begin(
                connection,
                lane,
                automation,
                plan(automation, max(now, automation.next_run_at)),
                self._keep_runs,
                queued_at,
            )
            if new is not None:
                inputs += input_queue.admit_all(connection, [(lane, new)], queued_at)
        return Claimed(len(rows), inputs, user_ids)

    def first_due(self, connection: Connection, until: datetime) -> set_aside.Reference | None:
        values = {"now": until - self.lead, "until": until, "limit": 1}
        row = connection.execute(_FIRST, values).one_or_none()
        return None if row is None else set_aside.Reference(row.id, row.session_id)

    def give_up(self, connection: Connection, row_id: str, why: str) -> None:
        changes = {
            "enabled": False,
            "ended": Ended.FAILED,
            "next_run_at": None,
            "held_at": None,
            "last_status": "error",
            "last_error": why,
        }
        set_aside.take_out(connection, automations, row_id, changes, automation_of)
