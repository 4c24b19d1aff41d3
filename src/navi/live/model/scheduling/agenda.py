"""What will happen next in any session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class AgendaKind(StrEnum):
    RECALL = "recall"
    AUTOMATION = "automation"
    REMINDER = "reminder"


class WaitsFor(StrEnum):
    """What can hold up an entry that is due."""

    TERMINAL = "terminal"
    """Its session is open in a person's terminal, where Navi begins no turn of its own."""


@dataclass(frozen=True, slots=True)
class AgendaEntry:
    at: datetime
    kind: AgendaKind
    id: str
    """The id of the recall, automation or reminder."""
    session_id: str
    session_title: str
    title: str
    """The first line of what the agent will get, or the automation's name."""
    waits_for: WaitsFor | None = None
