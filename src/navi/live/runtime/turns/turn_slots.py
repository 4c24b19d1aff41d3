"""Limits how many turns one process runs at once, in all and for each user."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from navi.live.model.input import Origin


@dataclass(frozen=True, slots=True)
class Pool:
    """Slots that all users share."""

    size: int
    always_per_user: int
    """A user who holds fewer slots than this gets another one even if all are taken, so that other
    users' turns alone never block anybody."""


@dataclass(frozen=True, slots=True)
class _Hold:
    """A user's slots for one turn, one in each of `pools` (by origin; None is the shared pool)."""

    user_id: str
    pools: frozenset[Origin | None]


class TurnSlots:
    """The slots of one process. Some origins have their own pool; the others share one."""

    def __init__(self, shared: Pool, own: Mapping[Origin, Pool]) -> None:
        self._pools: dict[Origin | None, Pool] = {None: shared, **dict(own.items())}
        self._holds: dict[str, _Hold] = {}
        self._paused: dict[str, _Hold] = {}

    def free_origins(self, user_id: str) -> frozenset[Origin]:
        """The origins for which a turn of this user could begin now."""
        return frozenset(each for each in Origin if self._has_room(self._pool_name(each), user_id))

    def full_origins(self) -> set[tuple[Origin, str]]:
        """The pairs of origin and user for which no turn could begin now."""
        users = {hold.user_id for hold in self._holds.values()}
        return {(each, user) for user in users for each in set(Origin) - self.free_origins(user)}

    def count_free(self) -> int:
        return sum(max(0, pool.size - self._count(name)) for name, pool in self._pools.items())

    def reserve(self, turn_id: str, user_id: str, origins: Collection[Origin]) -> frozenset[Origin]:
        """Hold a slot in each pool of `origins` with room. Returns all origins these slots allow.

        Call `settle` with the origin when the turn has begun, or with None if it can't begin.
        """
        pools = {name for name in map(self._pool_name, origins) if self._has_room(name, user_id)}
        self._holds[turn_id] = _Hold(user_id, frozenset(pools))
        return frozenset(origin for origin in Origin if self._pool_name(origin) in pools)

    def settle(self, turn_id: str, origin: Origin | None) -> None:
        """Keep only the slot for `origin`. With None, free all: the turn ended or never began."""
        hold = self._holds.pop(turn_id, None)
        self._paused.pop(turn_id, None)
        if hold is not None and origin is not None:
            self._holds[turn_id] = _Hold(hold.user_id, frozenset({self._pool_name(origin)}))

    def pause(self, turn_id: str) -> None:
        """Free the slot of a turn that waits for a person."""
        if (hold := self._holds.pop(turn_id, None)) is not None:
            self._paused[turn_id] = hold

    def resume(self, turn_id: str) -> None:
        """Hold the turn's slot again, even if all are taken: nobody should wait twice."""
        if (hold := self._paused.pop(turn_id, None)) is not None:
            self._holds[turn_id] = hold

    def _pool_name(self, origin: Origin) -> Origin | None:
        return origin if origin in self._pools else None

    def _has_room(self, name: Origin | None, user_id: str) -> bool:
        pool = self._pools[name]
        reserved = min(pool.always_per_user, pool.size)
        return self._count(name) < pool.size or self._count(name, user_id) < reserved

    def _count(self, name: Origin | None, user_id: str | None = None) -> int:
        return sum(
            name in hold.pools and user_id in (None, hold.user_id) for hold in self._holds.values()
        )
