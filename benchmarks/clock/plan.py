"""How much of everything is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """What one contestant goes through. Handed to its process as JSON."""

    pending: int
    """How many are scheduled for a far day and stay that way."""
    rounds: int
    """How often burst and spread are repeated; their figures are the median of the rounds: a disk
    that stalls once must not be taken for the work."""
    burst: int
    """How many are due at the same instant."""
    spread_per_second: int
    spread_seconds: int
    idle_seconds: float
    """0 leaves it out."""
    lead_seconds: float
    """How long before their time the due ones are scheduled."""
    patience_seconds: float
    """How long after their time they are waited for."""


BURST = 1000
SPREAD_PER_SECOND = 100
PENDING = (100_000, 1_000_000)
QUICK_PENDING = (10_000,)


def plan_for(pending: int, *, is_quick: bool, with_idle: bool) -> Plan:
    return Plan(
        pending=pending,
        rounds=1 if is_quick else 3,
        burst=BURST,
        spread_per_second=SPREAD_PER_SECOND,
        spread_seconds=2 if is_quick else 10,
        idle_seconds=0.0 if not with_idle else 3.0 if is_quick else 20.0,
        lead_seconds=12.0,
        patience_seconds=15.0 if is_quick else 40.0,
    )
