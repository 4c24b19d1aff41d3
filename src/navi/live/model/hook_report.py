"""What an agent's hook reports, in Navi's terms."""

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
    """The agent's state now; None if the report doesn't say."""
    is_open: bool = True
    """Whether its terminal stays open afterwards."""
    asks_what_next: bool = False
    began_compaction: bool = False
    """The agent is summarising its history. Its next report of any kind means that is done."""
    tool_call_id: str | None = None
    """The tool call whose result the agent reads together with our answer to its hook."""
    prompt: str | None = None
    """The first line of what the person just typed."""

    @property
    def takes_nudges(self) -> bool:
        return self.tool_call_id is not None
