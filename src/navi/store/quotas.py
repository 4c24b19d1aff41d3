"""Whether a user or a session may have one more of something.

Two transactions at the same moment may both take the last place: a limit is not exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BindParameter, Connection, Select, bindparam, func, select

from navi.domain.quota import LimitReached
from navi.store.rows import IS_PENDING
from navi.store.tables import (
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
    """Things that count as one, by user or by session."""

    things: str
    owner: str
    rows: Select[Any]
    remedy: str
    count: Select[Any] = field(init=False)

    def __post_init__(self) -> None:
        # No further than the limit, so that a look costs the same however many there are.
        bounded = self.rows.limit(bindparam("most")).subquery()
        object.__setattr__(self, "count", select(func.count()).select_from(bounded))


SESSIONS = Quota(
    "sessions",
    "user",
    select(sessions.c.id).where(sessions.c.user_id == _OWNER),
    "delete sessions that are no longer needed",
)
RECALLS = Quota(
    "pending recalls",
    "user",
    select(session_recalls.c.id)
    .join(sessions, sessions.c.id == session_recalls.c.session_id)
    .where(IS_PENDING, sessions.c.user_id == _OWNER),
    "cancel one first",
)
AUTOMATIONS = Quota(
    "automations",
    "user",
    select(automations.c.id).where(automations.c.user_id == _OWNER),
    "delete one first",
)
AUTOMATIONS_OF_SESSION = Quota(
    "automations",
    "session",
    select(automations.c.id).where(automations.c.session_key == _OWNER),
    "delete one first, or use another session",
)
REMINDERS = Quota(
    "pending reminders",
    "user",
    select(scheduled_reminders.c.id)
    .join(sessions, sessions.c.id == scheduled_reminders.c.session_id)
    .where(scheduled_reminders.c.status == "pending", sessions.c.user_id == _OWNER),
    "cancel one first",
)
INPUTS = Quota(
    "waiting inputs",
    "user",
    select(message_queue.c.id)
    .join(lanes, lanes.c.session_id == message_queue.c.session_id)
    .where(message_queue.c.delivered_at.is_(None), lanes.c.user_id == _OWNER),
    "wait until some have had their turn, or remove some",
)
INPUTS_OF_SESSION = Quota(
    "waiting inputs",
    "session",
    select(message_queue.c.id).where(
        message_queue.c.delivered_at.is_(None), message_queue.c.session_id == _OWNER
    ),
    "wait until some have had their turn, or remove some",
)


def require_room(
    connection: Connection, quota: Quota, owner_id: str, most: int | None, *, used: int = 0
) -> None:
    """Refuse what would be more than `most`; `used` of those that are there are new."""
    if most is None:
        return
    values = {"owner": owner_id, "most": most + used}
    if connection.execute(quota.count, values).scalar_one() >= most + used:
        hint = f"{quota.remedy}; an admin can raise the limit: [limits] in the settings"
        raise LimitReached(f"{quota.owner} {owner_id}", most, quota.things, hint=hint)
