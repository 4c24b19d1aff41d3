"""Starts, stops and lists reminders."""

from __future__ import annotations

from navi.base.clock import Clock
from navi.base.ids import new_id
from navi.live.model.access.quota import Limits
from navi.live.model.access.user import User
from navi.live.model.input import require_text
from navi.live.model.scheduling.reminder import (
    NoRegistration,
    Registration,
    Reminder,
    ReminderNotFound,
    ReminderStatus,
    Thresholds,
    require_delay,
)
from navi.live.runtime.services.session_service import SessionService
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import one_time_reminders, reminder_list, reminders


class ReminderService:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        sessions: SessionService,
        thresholds: Thresholds,
        limits: Limits,
    ) -> None:
        self._limits = limits
        self._store = store
        self._clock = clock
        self._sessions = sessions
        self.thresholds = thresholds

    async def register(
        self, user: User, session_id: str, soft: int | None = None, hard: int | None = None
    ) -> Registration:
        """Start reminding the session, replacing its earlier registration."""
        self._sessions.require_reporter(await self._sessions.get_not_hidden(user, session_id))
        soft, hard = self.thresholds.of(soft, hard)
        now = self._clock.now()
        new = Registration(new_id(), session_id, soft, hard, registered_at=now, last_reset_at=now)
        return await self._store.transact(reminders.register, new)

    async def registration(self, user: User, session_id: str) -> Registration:
        await self._sessions.get(user, session_id)
        registration = await self._store.transact(reminders.active, session_id)
        if registration is None:
            raise NoRegistration(session_id)
        return registration

    async def stop(self, user: User, session_id: str) -> Registration:
        await self._sessions.get(user, session_id)
        return await self._store.transact(reminders.stop, session_id, self._clock.now())

    async def schedule(
        self, user: User, session_id: str, delay_seconds: float, message: str
    ) -> Reminder:
        """Schedule a one-off reminder: a message that interrupts the session."""
        await self._sessions.get_not_hidden(user, session_id)
        now = self._clock.now()
        new = Reminder(
            id=new_id(),
            session_id=session_id,
            message=require_text(message),
            fires_at=now + require_delay(delay_seconds),
            status=ReminderStatus.PENDING,
            created_at=now,
            updated_at=now,
        )
        limit = self._limits.of(user).reminders
        return await self._store.transact(one_time_reminders.schedule, new, limit)

    async def upcoming(
        self, user: User, session_id: str | None = None
    ) -> list[Registration | Reminder]:
        """The pending reminders of one session, or all that the user may see; soonest first."""
        if session_id is not None:
            await self._sessions.get(user, session_id)
        owner = None if user.is_admin else user.id
        return await self._store.transact(
            reminder_list.upcoming, user_id=owner, session_id=session_id
        )

    async def cancel(self, user: User, reminder_id: str) -> Reminder:
        reminder = await self._store.transact(one_time_reminders.find, reminder_id)
        if reminder is None:
            raise ReminderNotFound(reminder_id)
        await self._sessions.get(user, reminder.session_id)
        return await self._store.transact(one_time_reminders.cancel, reminder_id, self._clock.now())
