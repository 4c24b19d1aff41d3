"""The hidden sessions of automations that run in the background."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from navi.live.model.scheduling.automation import Automation
from navi.live.model.scheduling.schedule import is_equivalent
from navi.live.model.session import Session
from navi.live.store import sessions
from navi.live.store.lanes import lock
from navi.live.store.scheduling import automations


def add_or_update(
    connection: Connection, session: Session, automation: Automation, now: datetime
) -> bool:
    """Add the automation and its session. True if the automation is new.

    If it exists, only its schedule, `enabled` and `next_run_at` are updated.
    """
    sessions.create(connection, session)
    lock(connection, session.id)
    existing = automations.find(connection, automation.id)
    if existing is None:
        automations.add(connection, automation)
        return True
    if existing.enabled != automation.enabled or not is_equivalent(
        existing.schedule, automation.schedule
    ):
        automations.change(
            connection,
            existing,
            now,
            schedule=automation.schedule,
            enabled=automation.enabled,
            next_run_at=automation.next_run_at,
        )
    return False
