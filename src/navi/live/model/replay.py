"""Passing over what is known already when a story is told again from its beginning."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from navi.live.model.event import TextDelta, ThinkingDelta, TurnEvent, merge_deltas


class Retelling:
    """`told` is the known beginning. Deltas may be cut otherwise the second time."""

    def __init__(self, told: Sequence[TurnEvent]) -> None:
        self._known = deque(merge_deltas(told))

    def rest_of(self, event: TurnEvent) -> TurnEvent | None:
        """What is new about the event; None if nothing is."""
        if not self._known:
            return event
        known = self._known.popleft()
        if event == known:
            return None
        if isinstance(event, TextDelta | ThinkingDelta) and type(event) is type(known):
            if known.delta.startswith(event.delta):
                self._known.appendleft(type(event)(known.delta[len(event.delta) :]))
                return None
            if event.delta.startswith(known.delta):
                # Only at the very end: two known deltas of one kind never follow each other.
                return type(event)(event.delta[len(known.delta) :])
        # Another story. Better twice than not at all.
        self._known.clear()
        return event
