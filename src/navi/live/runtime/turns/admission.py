"""Stations 1 and 2: admits new inputs, and chooses which sessions get the free slots.

Sessions wait for each other only when all slots are taken; the user with the fewest running turns
then goes first. Every change that may make a turn possible wakes this service. An input that was
admitted ahead of time gets its turn at its instant.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from navi.base.clock import Clock
from navi.base.errors import NaviError, NotFound
from navi.live.model.access.quota import Limits
from navi.live.model.access.user import User
from navi.live.model.input import Admission, NewInput, Origin, require_text
from navi.live.runtime.service import Service
from navi.live.runtime.turns.turn_runner import TurnRunner
from navi.live.runtime.turns.turn_slots import TurnSlots
from navi.live.store import budgets, input_queue, lanes
from navi.live.store.damage import bad_inputs
from navi.live.store.due.contract import Claimed
from navi.live.store.engine.transactions import Store

CHECK_SECONDS = 1.0
"""How late a turn may start if nothing woke us, for example after another server has died."""

FEWEST_CANDIDATES = 8
"""Consider at least this many sessions, even if all slots are taken: some of their users may begin
a turn nevertheless (`always_per_user`)."""

log = logging.getLogger("navi.admission")


class ExpectedInput(NamedTuple):
    """An admitted input and the instant from which it may be delivered."""

    at: datetime
    session_id: str
    origin: Origin
    user_id: str


class AdmissionService(Service):
    name = "admission"

    def __init__(
        self, store: Store, clock: Clock, turns: TurnRunner, slots: TurnSlots, limits: Limits
    ) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._turns = turns
        self._slots = slots
        self._limits = limits
        self._has_changes = False
        self._expected: list[ExpectedInput] = []
        self._is_open = True
        self.on_deliverable: Callable[[Sequence[ExpectedInput]], None] = lambda inputs: None
        """Called with inputs admitted ahead of time when their instant has come."""
        turns.on_change = self.wake

    def wake(self) -> None:
        """Look for sessions that can begin a turn: something has changed."""
        self._has_changes = True
        self._wake.set()

    def expect(self, claimed: Claimed) -> None:
        """Begin turns for the inputs of these claimed rows, each at its instant."""
        now = self._clock.now()
        for each in claimed.inputs:
            owner = claimed.user_ids[each.session_id]
            expected = ExpectedInput(each.not_before or now, each.session_id, each.origin, owner)
            heapq.heappush(self._expected, expected)
        self._wake.set()

    def close(self) -> None:
        """Begin no more turns."""
        self._is_open = False

    async def admit(self, sender: User, new: NewInput) -> Admission:
        """Store the input; if its session and a slot are free, begin the session's next turn."""
        require_text(new.text)
        limits = self._limits.of(sender)
        if self._is_open and new.origin in self._slots.free_origins(sender.id):
            # The usual case: one transaction admits the input and begins its turn.
            admission = await self._turns.admit(new, sender, limits)
        else:
            now = self._clock.now()
            admission = await self._store.transact(input_queue.admit, new, now, sender, limits)
            await self._store.transact(lanes.offer_work)
            self.wake()
        if admission.delivered or new.origin is not Origin.USER:
            return admission
        now = self._clock.now()
        pause = await self._store.transact(budgets.pause_of, new.session_id, now)
        return replace(admission, pause=pause)

    async def step(self) -> None:
        await self._wake.wait(self._seconds_to_wait())
        is_woken = self._wake.is_set
        self._wake.clear()
        deliverable = self._take_deliverable()
        # After a wait that timed out, look for changes that nobody announced.
        has_changes, self._has_changes = self._has_changes or not (is_woken or deliverable), False
        if has_changes:
            await self._begin_ready()
            return
        for each in deliverable:
            if each.origin in self._slots.free_origins(each.user_id):
                await self._begin(each.session_id, each.user_id)

    def _seconds_to_wait(self) -> float:
        if not self._expected:
            return CHECK_SECONDS
        left = (self._expected[0].at - self._clock.now()).total_seconds()
        return min(max(left, 0.0), CHECK_SECONDS)

    def _take_deliverable(self) -> list[ExpectedInput]:
        now = self._clock.now()
        due = []
        while self._expected and self._expected[0].at <= now:
            due.append(heapq.heappop(self._expected))
        if due:
            self.on_deliverable(due)
        return due

    async def _begin_ready(self) -> None:
        """Begin turns until no session is ready, or none of the ready ones can get a slot."""
        has_begun = True
        while has_begun and self._is_open:
            limit = max(self._slots.count_free(), FEWEST_CANDIDATES)
            ready = await self._store.transact(
                lanes.ready, self._clock.now(), limit, full=self._slots.full_origins()
            )
            has_begun = any([await self._begin(each.session_id, each.user_id) for each in ready])

    async def _begin(self, session_id: str, user_id: str) -> bool:
        if not self._is_open or not self._slots.free_origins(user_id):
            return False
        try:
            return await self._turns.begin(session_id, user_id)
        except NotFound:
            return False  # Deleted in the meantime.
        except NaviError:
            raise
        except Exception:
            log.exception("session %s can't begin its next turn", session_id)
            count = await self._store.transact(bad_inputs.set_aside, session_id, self._clock.now())
            return count > 0
