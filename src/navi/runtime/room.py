"""How many turns one process runs at once. Recalls have places of their own, so that neither
people's turns keep recalls from waking, nor the other way round."""

from __future__ import annotations

import threading

from navi.domain.input import Origin


class Room:
    """Asked from the store's threads, inside the transaction that would begin the turn."""

    def __init__(self, places: int, recall_places: int) -> None:
        self._places = {False: places, True: recall_places}
        self._taken: dict[str, bool] = {}
        self._lock = threading.Lock()

    def take(self, turn_id: str, origin: Origin) -> bool:
        """Take a place for the turn, if there is one. Taking it again is the same place."""
        is_recall = origin is Origin.RECALL
        with self._lock:
            if turn_id not in self._taken and self._left(is_recall) <= 0:
                return False
            self._taken[turn_id] = is_recall
            return True

    def free(self, turn_id: str) -> None:
        with self._lock:
            self._taken.pop(turn_id, None)

    def left(self, *, is_recall: bool) -> int:
        with self._lock:
            return self._left(is_recall)

    def _left(self, is_recall: bool) -> int:
        return self._places[is_recall] - list(self._taken.values()).count(is_recall)
