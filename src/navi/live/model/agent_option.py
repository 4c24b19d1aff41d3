"""An agent to offer for a new session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentOption:
    driver: str
    title: str
    reason: str | None = None
    """Why it can't run here; None if it can."""
    is_default: bool = False
    models: Sequence[str] = ()
    """Models to suggest; others work too."""
    takes_program: bool = False
    """Whether it runs a program of the person's choice."""
