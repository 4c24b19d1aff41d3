"""One report from an agent's hook, in Navi's own terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from navi.live.model.session import SessionState


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A tool call that has run."""

    tool_name: str
    tool_input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HookReport:
    driver: str
    agent_session_id: str
    cwd: str
    emitted_at: datetime
    transcript_path: str | None = None
    state: SessionState | None = None
    """The session's state from now on; None if the report doesn't say."""
    is_open: bool = True
    """False once the agent has ended its session `agent_session_id`."""
    asks_what_next: bool = False
    """The agent has stopped, and continues if the hook answers with a prompt."""
    began_compaction: bool = False
    """The agent is summarising its history. Its next report means that it has finished."""
    tool_call_id: str | None = None
    """The call whose result the agent reads together with the hook's answer."""
    finished_call: FinishedCall | None = None
    """The call that has just run, so it needs no permission any more."""
    shows_no_dialog: bool = False
    """The agent is beginning or ending a turn of its own, so it can't have a dialog open."""
    failure: str | None = None
    """Why the agent's turn failed, in its own words, if it did."""
    prompt: str | None = None
    """The first line of the person's prompt."""

    @property
    def takes_nudges(self) -> bool:
        return self.tool_call_id is not None
