"""Reacts to the signals of committed transactions, our own and other processes'."""

from __future__ import annotations

import json

from navi.live.runtime.broadcast import Broadcast
from navi.live.runtime.index_follower import IndexFollower
from navi.live.runtime.notifications.delivery import NotificationDelivery
from navi.live.runtime.scheduler.due_loop import DueLoop
from navi.live.runtime.service import Service
from navi.live.runtime.turns.admission import AdmissionService
from navi.live.runtime.turns.recovery import Recovery
from navi.live.runtime.turns.turn_questions import OpenQuestions
from navi.live.runtime.turns.turn_runner import TurnRunner
from navi.live.store.engine import signals
from navi.live.store.engine.transactions import Store


class SignalListener(Service):
    name = "signals"

    def __init__(
        self,
        store: Store,
        broadcast: Broadcast,
        turns: TurnRunner,
        admission: AdmissionService,
        scheduler: DueLoop,
        recovery: Recovery,
        index_follower: IndexFollower,
        questions: OpenQuestions,
        notifications: NotificationDelivery,
    ) -> None:
        super().__init__()
        self._store = store
        self._broadcast = broadcast
        self._turns = turns
        self._admission = admission
        self._scheduler = scheduler
        self._recovery = recovery
        self._index_follower = index_follower
        self._questions = questions
        self._notifications = notifications

    async def step(self) -> None:
        """Listen to the other processes that share the store."""
        await signals.listen(self._store.url, self._store.id, self.on_signal)

    def on_own_signal(self, channel: str, payload: str) -> None:
        """React to our own signals, except EVENTS (already published) and WORK (for others)."""
        if channel not in (signals.EVENTS, signals.WORK):
            self.on_signal(channel, payload)

    def on_signal(self, channel: str, payload: str) -> None:
        """React to a signal.

        If EVENTS or STOPS come without a payload, some signals may have been missed.
        """
        match channel:
            case signals.EVENTS if payload:
                self._index_follower.refresh_soon()
                last_numbers, position = json.loads(payload)
                for session_id, seq in last_numbers:
                    self._broadcast.announce(session_id, seq, position)
            case signals.EVENTS:
                self._index_follower.refresh_soon()
                self._broadcast.check_store()
            case signals.STOPS if payload:
                self._turns.interrupt(payload)
            case signals.STOPS:
                self._recovery.wake()
            case signals.ANSWERS:
                self._questions.on_answer(payload)
            case signals.ENDS:
                self._recovery.end_agents_soon()
            case signals.NOTIFICATIONS:
                self._notifications.wake()
            case signals.CLOCK:
                self._scheduler.wake()
            case signals.WORK:
                self._admission.wake()
