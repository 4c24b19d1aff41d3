"""One run of an agent, caused by an input. At most one at a time per session."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from navi.live.model.input import Input, Origin
from navi.live.model.session import Session

SERVER_STOPPED = "the server stopped during this turn"


class Outcome(StrEnum):
    OK = "ok"
    DENIED = "denied"
    """The agent was denied permission for something it tried to do."""
    ERROR = "error"
    STOPPED = "stopped"
    MAX_ITERATIONS = "max_iterations"
    LIMIT = "limit"
    """The vendor accepts no requests for now: a usage limit, or too many requests."""


class StopReason(StrEnum):
    """Why a running turn is asked to end early."""

    PERSON = "person"
    URGENT = "urgent"
    CLEARED = "cleared"
    """The session gets a new context as soon as the turn ends."""
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn that this process owns. `fence` proves ownership on every write."""

    id: str
    session: Session
    input: Input
    fence: int
    started_at: datetime
    joined: tuple[Input, ...] = ()
    """Other waiting messages, answered in the same turn."""

    @property
    def inputs(self) -> tuple[Input, ...]:
        return (self.input, *self.joined)

    @property
    def origin(self) -> Origin:
        return self.input.origin


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """A turn as any process can see it in the store."""

    id: str
    session_id: str
    fence: int
    owner: str
    lease_until: datetime
    stop_reason: StopReason | None


@dataclass(frozen=True, slots=True)
class Ending:
    outcome: Outcome
    error: str | None = None
    """Safe to show in the session."""
    detail: str | None = field(default=None, compare=False)
    """All details of a failure, for the record of the run."""
    resets_at: datetime | None = field(default=None, compare=False)
    """When a usage limit ends, if the vendor said so."""
