"""What is scheduled next, across all sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class AgendaKind(StrEnum):
    RECALL = "recall"
    AUTOMATION = "automation"
    REMINDER = "reminder"


class WaitsFor(StrEnum):
    """What a due entry may have to wait for."""

    TERMINAL = "terminal"
    """The session is open in a person's terminal. The entry waits until the person's turn there
    ends or they quit the agent."""


@dataclass(frozen=True, slots=True)
class AgendaEntry:
    at: datetime
    kind: AgendaKind
    id: str
    """The id of the recall, automation or reminder."""
    session_id: str
    session_title: str
    title: str
    """The first line of the text for the agent, or the automation's name."""
    waits_for: WaitsFor | None = None
