"""Adds, reads, changes and removes automations. `automation_runs.py` fires them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from navi.base.errors import SessionStopped
from navi.live.model.access.quota import UNLIMITED, Limits
from navi.live.model.permission_policy import OnPermission
from navi.live.model.scheduling.automation import (
    Automation,
    AutomationNotFound,
    BlockingAutomation,
    CatchUp,
    Ended,
    Guards,
    Kind,
    RunState,
    Target,
)
from navi.live.model.scheduling.schedule import At, Cron, Every, Schedule
from navi.live.model.session import SessionState
from navi.live.model.wire_format import automation_json
from navi.live.store.access import quotas
from navi.live.store.engine import signals
from navi.live.store.engine.tables import automations
from navi.live.store.events import emit
from navi.live.store.lanes import lock

_FIND = select(automations).where(automations.c.id == bindparam("automation_id"))
_BLOCKING = (
    select(automations.c.id, automations.c.name, automations.c.enabled, automations.c.ended)
    .where(
        automations.c.session_key == bindparam("session_id"),
        automations.c.kind == Kind.AGENT_TURN.value,
    )
    .order_by(automations.c.created_at, automations.c.id)
)


def add(connection: Connection, automation: Automation, limits: Limits = UNLIMITED) -> Automation:
    """Add the automation. Its session must exist and not have ended."""
    lane = lock(connection, automation.session_id)
    if (existing := find(connection, automation.id)) is not None:
        return existing
    if lane.session.state is SessionState.STOPPED:
        raise SessionStopped(automation.session_id)
    for quota, owner_id, limit in (
        (quotas.AUTOMATIONS_OF_SESSION, automation.session_id, limits.automations_per_session),
        (quotas.AUTOMATIONS, automation.user_id, limits.automations),
    ):
        quotas.require_room(connection, quota, owner_id, limit)
    connection.execute(insert(automations).values(**_values(automation)))
    announce(connection, automation, automation.created_at)
    return automation


def find(connection: Connection, automation_id: str) -> Automation | None:
    row = connection.execute(_FIND, {"automation_id": automation_id}).one_or_none()
    return None if row is None else automation_of(row)


def get(connection: Connection, automation_id: str) -> Automation:
    automation = find(connection, automation_id)
    if automation is None:
        raise AutomationNotFound(automation_id)
    return automation


def list_automations(
    connection: Connection, *, session_id: str | None = None, user_id: str | None = None
) -> list[Automation]:
    """Automations of one session, of one user, or all of them, oldest first."""
    query = select(automations).order_by(automations.c.created_at, automations.c.id)
    if session_id is not None:
        query = query.where(automations.c.session_key == session_id)
    if user_id is not None:
        query = query.where(automations.c.user_id == user_id)
    return [automation_of(row) for row in connection.execute(query)]


def blocking(connection: Connection, session_id: str) -> list[BlockingAutomation]:
    """The automations that would be deleted with the session."""
    rows = connection.execute(_BLOCKING, {"session_id": session_id})
    return [
        BlockingAutomation(row.id, row.name, row.enabled, row.ended and Ended(row.ended))
        for row in rows
    ]


def change(
    connection: Connection, automation: Automation, now: datetime, **changes: Any
) -> Automation:
    """Write and announce the changes. The caller holds the lane of the automation's session."""
    changed = replace(automation, **changes, updated_at=now)
    connection.execute(
        update(automations).where(automations.c.id == automation.id).values(**_values(changed))
    )
    announce(connection, changed, now)
    return changed


def remove(connection: Connection, automation: Automation, now: datetime) -> None:
    connection.execute(delete(automations).where(automations.c.id == automation.id))
    payload = {"automation": None, "automation_id": automation.id}
    emit(connection, automation.session_id, None, [("automation_update", payload)], now)


def announce(connection: Connection, automation: Automation, now: datetime) -> None:
    """Announce the automation and wake the schedulers: it may be the next one due."""
    payload = {"automation": automation_json(automation), "automation_id": automation.id}
    emit(connection, automation.session_id, None, [("automation_update", payload)], now)
    if automation.next_run_at is not None:
        signals.send(connection, signals.CLOCK)


def automation_of(row: Row[Any]) -> Automation:
    return Automation(
        id=row.id,
        user_id=row.user_id,
        name=row.name,
        kind=Kind(row.kind),
        session_key=row.session_key,
        schedule=_schedule_of(row),
        message=row.message,
        enabled=row.enabled,
        catch_up=CatchUp(row.catch_up),
        guards=Guards(row.max_runs, row.expires_at, row.max_failures, row.time_limit_seconds),
        target=Target(row.channel, row.to, row.channel_meta or {}, row.deliver),
        next_run_at=row.next_run_at,
        held_at=row.held_at,
        last_run_at=row.last_run_at,
        last_status=row.last_status,
        last_error=row.last_error,
        ended=None if row.ended is None else Ended(row.ended),
        active_run_state=None if row.active_run_state is None else RunState(row.active_run_state),
        run_count=row.run_count,
        failures_in_row=row.failures_in_row,
        missed_count=row.missed_count,
        on_permission=None if row.on_permission is None else OnPermission(row.on_permission),
        question_deadline_minutes=row.question_deadline_minutes,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _schedule_of(row: Row[Any]) -> Schedule:
    match row.schedule_kind:
        case "at":
            return At(row.at, row.tz or "UTC")
        case "every":
            return Every(row.every_seconds, row.anchor_at)
        case _:
            return Cron(row.cron_expr, row.tz)


def _values(automation: Automation) -> dict[str, Any]:
    own = {
        column.name: getattr(automation, column.name)
        for column in automations.columns
        if hasattr(automation, column.name)
    }
    guards, target = automation.guards, automation.target
    return {
        **own,
        **_schedule_values(automation.schedule),
        "max_runs": guards.max_runs,
        "expires_at": guards.expires_at,
        "max_failures": guards.max_failures,
        "time_limit_seconds": guards.time_limit_seconds,
        "channel": target.channel,
        "to": target.to,
        "channel_meta": dict(target.channel_meta) or None,
        "deliver": target.deliver,
    }


def _schedule_values(schedule: Schedule) -> dict[str, Any]:
    values: dict[str, Any] = dict.fromkeys(("at", "every_seconds", "anchor_at", "cron_expr", "tz"))
    match schedule:
        case At(at, tz):
            values |= {"at": at, "tz": tz}
        case Every(seconds, anchor):
            values |= {"every_seconds": seconds, "anchor_at": anchor}
        case Cron(expr, tz):
            values |= {"cron_expr": expr, "tz": tz}
    return {**values, "schedule_kind": schedule.kind}
