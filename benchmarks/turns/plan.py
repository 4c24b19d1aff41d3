"""The sizes and durations of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """Counts are per round; each figure is the median of the rounds."""

    rounds: int
    starts: int
    sessions: int
    """How many sessions with a finished turn exist when the server's memory is measured."""
    turns: int
    history_turns: int
    """How many turns a session with a long history has had."""
    turns_seconds: float
    admission_seconds: float
    stream_seconds: float
    fan_out_rounds: int
    """Fewer than `rounds`, because opening a thousand sockets takes longer than watching them."""
    fan_out_sockets: int
    fan_out_rates: tuple[int, ...]
    """A server can sustain the slower rate, so its latency is meaningful."""
    idle_seconds: float
    floor_seconds: float


FULL = Plan(
    rounds=3,
    starts=3,
    sessions=1000,
    turns=100,
    history_turns=100,
    turns_seconds=3.0,
    admission_seconds=3.0,
    stream_seconds=3.0,
    fan_out_rounds=2,
    fan_out_sockets=1000,
    fan_out_rates=(5, 30),
    idle_seconds=6.0,
    floor_seconds=1.0,
)
QUICK = Plan(
    rounds=1,
    starts=1,
    sessions=50,
    turns=30,
    history_turns=30,
    turns_seconds=1.0,
    admission_seconds=1.0,
    stream_seconds=1.0,
    fan_out_rounds=1,
    fan_out_sockets=200,
    fan_out_rates=(30,),
    idle_seconds=2.0,
    floor_seconds=0.3,
)

CLIENTS = (1, 20)
WATCHERS = (1, 100)
DELTAS_PER_SECOND = 30
"""About as fast as a model writes."""
SHORT_HISTORY_TURNS = 10
