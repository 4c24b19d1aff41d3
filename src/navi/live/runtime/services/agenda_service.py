"""Shows people what will happen next in their sessions."""

from __future__ import annotations

from datetime import tzinfo

from navi.base.clock import Clock
from navi.base.time_expressions import parse_when
from navi.live.model.access.user import User
from navi.live.model.scheduling.agenda import AgendaEntry
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import agenda


class AgendaService:
    def __init__(self, store: Store, clock: Clock, timezone: tzinfo) -> None:
        self._store = store
        self._clock = clock
        self._timezone = timezone

    async def upcoming(
        self, user: User, until: str | None = None, timezone: tzinfo | None = None
    ) -> list[AgendaEntry]:
        """The entries that the user may see, soonest first; with `until`, only those up to then."""
        end = None
        if until is not None:
            end = parse_when(until, self._clock.now(), timezone or self._timezone)
        owner = None if user.is_admin else user.id
        return await self._store.transact(agenda.upcoming, user_id=owner, until=end)
