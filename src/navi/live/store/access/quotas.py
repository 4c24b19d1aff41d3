"""Limits on how many sessions, recalls, inputs and so on a user or a session may have.

Limits are not exact: two simultaneous transactions may both add the last one allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, Connection, Select, bindparam, func, select

from navi.live.model.access.quota import LimitReached
from navi.live.store.engine.mappers import IS_PENDING
from navi.live.store.engine.tables import (
    automations,
    lanes,
    message_queue,
    scheduled_reminders,
    session_recalls,
    sessions,
)

_OWNER: BindParameter[str] = bindparam("owner")


@dataclass(frozen=True, slots=True)
class Quota:
    """What is counted, for whom, and what to do when there are too many."""

    plural: str
    owner: str
    remedy: str
    count: Select[Any]


def _bounded(rows: Select[Any]) -> Select[Any]:
    """Stop counting at the limit, so that the cost does not grow with the number of rows."""
    return select(func.count()).select_from(rows.limit(bindparam("limit")).subquery())


SESSIONS = Quota(
    "sessions",
    "user",
    "delete sessions that are no longer needed",
    _bounded(select(sessions.c.id).where(sessions.c.user_id == _OWNER)),
)
RECALLS = Quota(
    "pending recalls",
    "user",
    "cancel one first",
    _bounded(
        select(session_recalls.c.id)
        .join(sessions, sessions.c.id == session_recalls.c.session_id)
        .where(IS_PENDING, sessions.c.user_id == _OWNER)
    ),
)
AUTOMATIONS = Quota(
    "automations",
    "user",
    "delete one first",
    _bounded(select(automations.c.id).where(automations.c.user_id == _OWNER)),
)
AUTOMATIONS_OF_SESSION = Quota(
    "automations",
    "session",
    "delete one first, or use another session",
    _bounded(select(automations.c.id).where(automations.c.session_key == _OWNER)),
)
REMINDERS = Quota(
    "pending reminders",
    "user",
    "cancel one first",
    _bounded(
        select(scheduled_reminders.c.id)
        .join(sessions, sessions.c.id == scheduled_reminders.c.session_id)
        .where(scheduled_reminders.c.status == "pending", sessions.c.user_id == _OWNER)
    ),
)
_IS_WAITING = message_queue.c.delivered_at.is_(None)
INPUTS = Quota(
    "waiting inputs",
    "user",
    "wait until some are delivered, or remove some",
    _bounded(
        select(message_queue.c.id)
        .join(lanes, lanes.c.session_id == message_queue.c.session_id)
        .where(_IS_WAITING, lanes.c.user_id == _OWNER)
    ),
)
INPUTS_OF_SESSION = Quota(
    "waiting inputs",
    "session",
    "wait until some are delivered, or remove some",
    _bounded(select(message_queue.c.id).where(_IS_WAITING, message_queue.c.session_id == _OWNER)),
)


def require_room(
    connection: Connection, quota: Quota, owner_id: str, limit: int | None, *, just_added: int = 0
) -> None:
    """Raise LimitReached if there are `limit` already, not counting those just added."""
    if limit is None:
        return
    values = {"owner": owner_id, "limit": limit + just_added}
    if connection.execute(quota.count, values).scalar_one() >= limit + just_added:
        hint = f"{quota.remedy}; an admin can raise the limit: [limits] in the settings"
        raise LimitReached(f"{quota.owner} {owner_id}", limit, quota.plural, hint=hint)
