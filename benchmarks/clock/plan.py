"""The sizes and durations of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Plan:
    """The measurements of one contestant. Passed to its process as JSON."""

    pending: int
    """How many jobs are scheduled for a distant day and never come due."""
    rounds: int
    """How often burst and spread are repeated. The figures are the median of the rounds, so that
    a disk that stalls once does not count."""
    burst: int
    """How many jobs are due at the same instant."""
    spread_per_second: int
    spread_seconds: int
    idle_seconds: float
    """0 leaves it out."""
    lead_seconds: float
    """How long before they are due the jobs are scheduled."""
    timeout_seconds: float
    """How long to wait for jobs after they are due."""


BURST = 1000
SPREAD_PER_SECOND = 100
PENDING = (100_000, 1_000_000)
QUICK_PENDING = (10_000,)
SMALLEST_PENDING = (100,)


def full_plan(pending: int, *, with_idle: bool) -> Plan:
    return Plan(
        pending=pending,
        rounds=3,
        burst=BURST,
        spread_per_second=SPREAD_PER_SECOND,
        spread_seconds=10,
        idle_seconds=20.0 if with_idle else 0.0,
        lead_seconds=12.0,
        timeout_seconds=40.0,
    )


def quick_plan(pending: int) -> Plan:
    return replace(
        full_plan(pending, with_idle=True),
        rounds=1,
        spread_seconds=2,
        idle_seconds=3.0,
        timeout_seconds=15.0,
    )


def smallest_plan(pending: int) -> Plan:
    """Shows that everything works, also on a busy machine. Its figures mean nothing."""
    return replace(
        quick_plan(pending),
        burst=20,
        spread_per_second=20,
        spread_seconds=1,
        idle_seconds=0.5,
        lead_seconds=4.0,
        timeout_seconds=60.0,
    )
