"""What an agent's hook reports, as the server reads it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from navi.live.model.hook_report import HookReport
from navi.vendors.registry import vendors


def hook_report(
    event: str, session_id: str, emitted_at: datetime, driver: str = "claude_code", **fields: Any
) -> HookReport:
    """`fields` are the agent's own."""
    dialect = vendors()[driver].hooks()
    assert dialect is not None
    values = {"hook_event_name": event, "session_id": session_id, "cwd": "/work", **fields}
    return dialect.report(dialect.hook_class.model_validate(values), emitted_at)
