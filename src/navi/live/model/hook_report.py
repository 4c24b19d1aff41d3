"""One report from an agent's hook, in Navi's own terms."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from navi.live.model.session import SessionState


@dataclass(frozen=True, slots=True)
class HookReport:
    driver: str
    agent_session_id: str
    cwd: str
    emitted_at: datetime
    transcript_path: str | None = None
    state: SessionState | None = None
    """The agent's state after this event; None if the event doesn't say."""
    is_open: bool = True
    """False once the agent has left its terminal."""
    asks_what_next: bool = False
    """The agent has stopped, and continues if the hook answers with a prompt."""
    began_compaction: bool = False
    """The agent is summarising its history. Its next report means that it has finished."""
    tool_call_id: str | None = None
    """The call whose result the agent reads together with the hook's answer."""
    prompt: str | None = None
    """The first line of the person's prompt."""

    @property
    def takes_nudges(self) -> bool:
        return self.tool_call_id is not None
