"""Skips events that are already stored when a turn is replayed from its start."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from navi.live.model.event import TextDelta, ThinkingDelta, TurnEvent, merge_deltas


class ReplayFilter:
    """`stored` holds the turn's first events. The replay may split their text differently."""

    def __init__(self, stored: Sequence[TurnEvent]) -> None:
        self._stored = deque(merge_deltas(stored))

    def rest_of(self, event: TurnEvent) -> TurnEvent | None:
        """The part of the event that is new; None if all of it is stored."""
        if not self._stored:
            return event
        expected = self._stored.popleft()
        if event == expected:
            return None
        if isinstance(event, TextDelta | ThinkingDelta) and type(event) is type(expected):
            if expected.delta.startswith(event.delta):
                self._stored.appendleft(type(event)(expected.delta[len(event.delta) :]))
                return None
            if event.delta.startswith(expected.delta):
                # Only the last stored delta can be cut short: adjacent deltas of a kind are merged.
                return type(event)(event.delta[len(expected.delta) :])
        # The replay differs. Better to store an event twice than to lose it.
        self._stored.clear()
        return event
