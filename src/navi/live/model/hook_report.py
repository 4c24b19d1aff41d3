"""What an agent's hook reports, in Navi's words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from navi.live.model.session import SessionState


@dataclass(frozen=True, slots=True)
class News:
    driver: str
    agent_session_id: str
    cwd: str
    emitted_at: datetime
    transcript_path: str | None = None
    state: SessionState | None = None
    """Where the agent is now; None if this says nothing about it."""
    is_open: bool = True
    """Whether its terminal is still there afterwards."""
    asks_what_next: bool = False
    began_compaction: bool = False
    """The agent summarises its history. Whatever it reports next, it has done that."""
    tool_call_id: str | None = None
    """The call whose result the agent will read together with what its hook is answered."""
    prompt: str | None = None
    """The first line of what the person has just typed."""

    @property
    def takes_nudges(self) -> bool:
        return self.tool_call_id is not None
