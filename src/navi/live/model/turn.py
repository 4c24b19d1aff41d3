"""One run of an agent, caused by an input. At most one at a time per session."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum

from navi.live.model.input import Input, Origin
from navi.live.model.question import NewQuestion
from navi.live.model.session import Session
from navi.live.model.usage_limit import DEFAULT_RETRY, Account, RetryPolicy

SERVER_STOPPED = "the server stopped during this turn"


class Outcome(StrEnum):
    OK = "ok"
    DENIED = "denied"
    """The agent finished, but was denied permission for some of its calls."""
    ERROR = "error"
    STOPPED = "stopped"
    MAX_ITERATIONS = "max_iterations"
    LIMIT = "limit"
    """The vendor accepts no requests for now: a usage limit, too many requests or an overload."""


class StopReason(StrEnum):
    """Why a running turn is asked to end early."""

    PERSON = "person"
    URGENT = "urgent"
    CLEARED = "cleared"
    """The agent forgets the conversation as soon as the turn ends."""
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
    """Other inputs that waited and are answered in the same turn."""
    account: Account | None = None
    """The account whose usage limits apply to it; None for the one that `Account.of` derives."""
    retry: RetryPolicy = DEFAULT_RETRY
    """What happens if it meets a usage limit."""
    zone: tzinfo = UTC
    """The person's time zone: daily budgets start over at its midnight."""
    was_limited: bool = False
    """Whether its account met a limit before. If the turn succeeds, that limit has reset."""

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
    """A text that is safe to show in the session."""
    detail: str | None = field(default=None, compare=False)
    """All details of a failure, for the run of an automation."""
    resets_at: datetime | None = field(default=None, compare=False)
    """When a usage limit ends, if the vendor said so."""
    limit_kind: str | None = field(default=None, compare=False)
    """Which usage limit it was, if the vendor said so."""
    question: NewQuestion | None = field(default=None, compare=False)
    """The question to ask a person if the turn was cut off."""
