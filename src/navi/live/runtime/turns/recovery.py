"""Renews leases, forwards stop requests, and cleans up after dead servers and ended sessions."""

from __future__ import annotations

import logging
from datetime import timedelta

from navi.base.clock import Clock
from navi.base.errors import NaviError
from navi.live.model.turn import RunningTurn
from navi.live.runtime.service import Service
from navi.live.runtime.services.session_service import SessionService
from navi.live.runtime.turns.admission import AdmissionService
from navi.live.runtime.turns.process_identity import is_surely_dead
from navi.live.runtime.turns.turn_runner import TurnRunner
from navi.live.store import lanes, turns
from navi.live.store.damage import bad_turns
from navi.live.store.damage.set_aside import reason_of
from navi.live.store.engine.transactions import Store

CHECKS_PER_LEASE = 8

log = logging.getLogger("navi.recovery")


class Recovery(Service):
    name = "recovery"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        owner: str,
        turns: TurnRunner,
        admission: AdmissionService,
        sessions: SessionService,
        lease: timedelta,
    ) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._owner = owner
        self._turns = turns
        self._admission = admission
        self._sessions = sessions
        self._must_end_agents = False
        self._lease = lease

    def end_agents_soon(self) -> None:
        """At the next step, close agents here whose sessions another process has ended."""
        self._must_end_agents = True
        self._wake.set()

    async def step(self) -> None:
        """Check all running turns, ours and others', several times per lease."""
        await self._wake.wait(self._lease.total_seconds() / CHECKS_PER_LEASE)
        self._wake.clear()
        await self.check_turns()
        if self._must_end_agents:
            self._must_end_agents = False
            await self._sessions.end_agents()

    async def check_turns(self) -> None:
        now = self._clock.now()
        active_before = self._turns.active_turn_ids()
        await self._store.transact(lanes.renew, self._owner, now + self._lease)
        running = await self._read_running()
        for turn in running:
            if turn.owner == self._owner and self._turns.is_ours(turn.id):
                if turn.stop_reason is not None:
                    self._turns.interrupt(turn.id)
            elif self._is_dead(turn):
                await self._take_over_or_close(turn)
        owned = {turn.id for turn in running if turn.owner == self._owner}
        # These turns ran before and after we read the store, but it no longer lists them as ours:
        # another process has taken them over.
        for turn_id in active_before & self._turns.active_turn_ids() - owned:
            self._turns.abandon(turn_id)

    async def _read_running(self) -> list[RunningTurn]:
        try:
            return await self._store.transact(lanes.running)
        except NaviError:
            raise
        except Exception:
            log.exception("can't read the running turns together; reading them one by one")
            return await self._store.transact(bad_turns.set_aside, self._clock.now())

    def _is_dead(self, turn: RunningTurn) -> bool:
        if turn.owner == self._owner:
            # According to the store we run it. If we don't, its end could not be stored.
            return not self._turns.is_ours(turn.id)
        return turn.lease_until < self._clock.now() or is_surely_dead(turn.owner)

    async def _take_over_or_close(self, turn: RunningTurn) -> None:
        """Take over a dead server's turn, or else close it. Set it aside if neither works."""
        try:
            if await self._turns.take_over(turn):
                log.warning("took over turn %s of session %s", turn.id, turn.session_id)
                return
            is_closed = await self._store.transact(turns.close_dead, turn, self._clock.now())
        except NaviError:
            raise
        except Exception as error:
            log.exception("turn %s of session %s can't be closed", turn.id, turn.session_id)
            reason, now = reason_of(error), self._clock.now()
            await self._store.transact(bad_turns.end, turn.id, turn.session_id, reason, now)
            is_closed = True
        if is_closed:
            log.warning(
                "closed turn %s of session %s: its server is gone", turn.id, turn.session_id
            )
            self._admission.wake()
