"""How many turns one process runs at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from navi.domain.input import Origin


class TurnSlots:
    """Some origins have slots of their own; all others share the rest."""

    def __init__(self, shared: int, own: Mapping[Origin, int]) -> None:
        self._sizes: dict[Origin | None, int] = {None: shared, **dict(own.items())}
        self._held: dict[str, set[Origin | None]] = {}

    def free_origins(self) -> frozenset[Origin]:
        """The origins for which a turn could begin now."""
        return frozenset(origin for origin in Origin if self._free(self._pool(origin)) > 0)

    def count_free(self) -> int:
        return sum(max(0, self._free(pool)) for pool in self._sizes)

    def reserve(self, turn_id: str, wanted: Collection[Origin]) -> frozenset[Origin]:
        """Hold a free slot for each wanted origin, where there is one; the origins that have it.

        `settle` follows when it is clear which of them the turn has, if it begins at all.
        """
        pools = {pool for pool in map(self._pool, wanted) if self._free(pool) > 0}
        self._held[turn_id] = pools
        return frozenset(origin for origin in Origin if self._pool(origin) in pools)

    def settle(self, turn_id: str, origin: Origin | None) -> None:
        """Keep only the slot of the origin with which the turn began; none if it did not."""
        if origin is None:
            self._held.pop(turn_id, None)
        else:
            self._held[turn_id] = {self._pool(origin)}

    def _pool(self, origin: Origin) -> Origin | None:
        return origin if origin in self._sizes else None

    def _free(self, pool: Origin | None) -> int:
        return self._sizes[pool] - sum(pool in pools for pools in self._held.values())
