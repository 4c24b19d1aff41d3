"""Lists the usage limits of accounts, and ignores them on request."""

from __future__ import annotations

from navi.base.clock import Clock
from navi.base.errors import SessionNotFound
from navi.live.model.access.user import User
from navi.live.model.usage_limit import LimitReport
from navi.live.runtime.turns.admission import AdmissionService
from navi.live.store import lanes, usage_limits
from navi.live.store.engine.transactions import Store


class UsageLimitService:
    def __init__(self, store: Store, clock: Clock, admission: AdmissionService) -> None:
        self._store = store
        self._clock = clock
        self._admission = admission

    async def list_limits(self, user: User) -> list[LimitReport]:
        """The limits of the user's accounts and of shared ones; for an admin, all limits."""
        return await self._store.transact(usage_limits.list_limits, user, self._clock.now())

    async def ignore(self, user: User, account_id: str | None) -> list[LimitReport]:
        """Release everything that waits for a limit of this account or, with None, of any of the
        user's accounts."""
        account_ids = await self._store.transact(usage_limits.lift, user, account_id)
        # One session per transaction: an operation that holds an account must not wait for a lane.
        for session_id in await self._store.transact(usage_limits.waiting_sessions, account_ids):
            await self._release(session_id, account_ids)
        await self._store.transact(lanes.offer_work)
        self._admission.wake()
        return await self.list_limits(user)

    async def _release(self, session_id: str, account_ids: list[str]) -> None:
        try:
            now = self._clock.now()
            await self._store.transact(usage_limits.release, session_id, account_ids, now)
        except SessionNotFound:
            pass  # deleted in the meantime
