"""How many turns one process runs at once, and whose."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from navi.live.model.input import Origin


@dataclass(frozen=True, slots=True)
class Pool:
    """Slots that all users share."""

    size: int
    per_user: int
    """A user with fewer slots than this gets another one even if all are taken, so that nobody is
    blocked by other users' turns alone."""


@dataclass(frozen=True, slots=True)
class _Hold:
    user_id: str
    pools: frozenset[Origin | None]


class TurnSlots:
    """Who may start how many turns. Some origins have their own pool; the others share one."""

    def __init__(self, shared: Pool, own: Mapping[Origin, Pool]) -> None:
        self._pools: dict[Origin | None, Pool] = {None: shared, **dict(own.items())}
        self._holds: dict[str, _Hold] = {}

    def free_origins(self, user_id: str) -> frozenset[Origin]:
        """The origins for which a turn of this user could begin now."""
        return frozenset(each for each in Origin if self._has_room(self._pool_name(each), user_id))

    def full_origins(self) -> set[tuple[Origin, str]]:
        """The origins and users for which no turn could begin now."""
        users = {hold.user_id for hold in self._holds.values()}
        return {(each, user) for user in users for each in set(Origin) - self.free_origins(user)}

    def count_free(self) -> int:
        return sum(max(0, pool.size - self._count(name)) for name, pool in self._pools.items())

    def reserve(self, turn_id: str, user_id: str, origins: Collection[Origin]) -> frozenset[Origin]:
        """Hold a slot for each origin that has one free. Returns the origins these slots allow.

        Call `settle` when the turn has begun with one of them, or has not begun.
        """
        pools = {pool for pool in map(self._pool_name, origins) if self._has_room(pool, user_id)}
        self._holds[turn_id] = _Hold(user_id, frozenset(pools))
        return frozenset(origin for origin in Origin if self._pool_name(origin) in pools)

    def settle(self, turn_id: str, origin: Origin | None) -> None:
        """Keep only the slot of the turn's origin; none if it did not begin."""
        hold = self._holds.pop(turn_id, None)
        if hold is not None and origin is not None:
            self._holds[turn_id] = _Hold(hold.user_id, frozenset({self._pool_name(origin)}))

    def _pool_name(self, origin: Origin) -> Origin | None:
        return origin if origin in self._pools else None

    def _has_room(self, name: Origin | None, user_id: str) -> bool:
        pool = self._pools[name]
        reserved = min(pool.per_user, pool.size)
        return self._count(name) < pool.size or self._count(name, user_id) < reserved

    def _count(self, name: Origin | None, user_id: str | None = None) -> int:
        return sum(
            name in hold.pools and user_id in (None, hold.user_id) for hold in self._holds.values()
        )
