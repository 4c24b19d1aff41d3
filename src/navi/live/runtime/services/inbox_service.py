"""Shows people what is waiting for them, and lets them snooze or settle it."""

from __future__ import annotations

from dataclasses import replace
from datetime import tzinfo

from navi.base.clock import Clock
from navi.base.time_expressions import parse_when
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.model.inbox import InboxItem, InboxKind, MustBeAnswered, Snooze
from navi.live.runtime.services.session_service import SessionService
from navi.live.store import inbox
from navi.live.store.engine.transactions import Store


class InboxService:
    def __init__(
        self, store: Store, clock: Clock, sessions: SessionService, timezone: tzinfo
    ) -> None:
        self._store = store
        self._clock = clock
        self._sessions = sessions
        self._timezone = timezone

    async def items(
        self, user: User, timezone: tzinfo | None = None, *, with_snoozed: bool = False
    ) -> list[InboxItem]:
        """The items of the sessions that the user may see, most important first."""
        return await self._store.transact(
            inbox.items,
            owner_id=_owner(user),
            reader_id=user.id,
            now=self._clock.now(),
            timezone=timezone or self._timezone,
            with_snoozed=with_snoozed,
        )

    async def snooze(
        self, caller: Caller, item_id: str, until: str, timezone: tzinfo | None = None
    ) -> InboxItem:
        """Hide the item from this person until then, or until it happens again."""
        caller.require_person()
        item = await self._get(caller.user, item_id)
        now = self._clock.now()
        end = parse_when(until, now, timezone or self._timezone)
        new = Snooze(item_id, now, end)
        await self._store.transact(inbox.snooze, caller.user.id, new)
        return replace(item, snoozed_until=end)

    async def settle(self, caller: Caller, item_id: str) -> InboxItem:
        """Record that a person has dealt with the item. Questions are answered instead."""
        caller.require_person()
        item = await self._get(caller.user, item_id)
        if item.kind is InboxKind.QUESTION:
            raise MustBeAnswered(item)
        if item.kind in (InboxKind.DISABLED, InboxKind.BUDGET):
            new = Snooze(item_id, self._clock.now(), None)
            await self._store.transact(inbox.snooze, caller.user.id, new)
        else:
            await self._sessions.change(caller.user, item.session_id, {"unread": False})
        return item

    async def _get(self, user: User, item_id: str) -> InboxItem:
        return await self._store.transact(
            inbox.get,
            item_id,
            owner_id=_owner(user),
            now=self._clock.now(),
            timezone=self._timezone,
        )


def _owner(user: User) -> str | None:
    return None if user.is_admin else user.id
