"""How many of each thing a user or a session may have."""

from __future__ import annotations

from dataclasses import dataclass, replace

from navi.base.errors import Conflict
from navi.live.model.access.user import User


class LimitReached(Conflict):
    kind = "limit_reached"

    def __init__(self, subject: str, limit: int, plural: str, *, hint: str) -> None:
        noun = plural.removesuffix("s") if limit == 1 else plural
        super().__init__(f"{subject} has reached the limit of {limit:,} {noun}", hint=hint)


@dataclass(frozen=True, slots=True)
class Limits:
    """None means unlimited."""

    sessions: int | None = None
    recalls: int | None = None
    automations: int | None = None
    reminders: int | None = None
    waiting_inputs: int | None = None
    automations_per_session: int | None = None
    waiting_inputs_per_session: int | None = None

    def of(self, user: User) -> Limits:
        """The limits for this user. Only the limits per session apply to an admin."""
        if not user.is_admin:
            return self
        return replace(
            self, sessions=None, recalls=None, automations=None, reminders=None, waiting_inputs=None
        )


UNLIMITED = Limits()
