"""Reads from Codex's rollout how a turn ended.

`codex exec` doesn't print which calls were refused or when a limit resets; the rollout has both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from navi.base.errors import AgentFailed, NaviError, PermissionRefused, UsageLimit
from navi.live.agents.usage_limits import instant_of, is_usage_limit
from navi.live.model.refusal import call_in_words
from navi.vendors.codex.home import CodexHome
from navi.vendors.codex.records import (
    CALL_OUTPUTS,
    CALLS,
    TURN_BEGINNINGS,
    LiveFailure,
    LivePayload,
    live_line,
)

HINT = "allow it in Codex's settings, or set `arguments` under [codex] in Navi's"
LIMITS = {"usage_limit_exceeded", "rate_limit_exceeded", "server_overloaded"}
# Matched at the start of a call's output, where a command's own output never begins.
_REFUSAL = re.compile(
    r"approval policy is .*; reject command|patch rejected\b|exec command rejected by user|"
    r"[\w ]+ (?:failed|error): .*\bRejected\(|Rejected\(|"
    r"MCP tool call (?:requires approval|cancelled|blocked)|user (?:rejected|cancelled) MCP tool"
)


class CodexEnding:
    """Reads the lines of one turn."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self._error: LiveFailure | None = None
        self._resets_at: datetime | None = None

    @classmethod
    def of(cls, lines: Iterable[bytes]) -> CodexEnding:
        ending = cls()
        for text in lines:
            line = live_line(text)
            if line is not None and line.payload is not None:
                ending.read(line.payload)
        return ending

    def read(self, payload: LivePayload) -> None:
        call_id = payload.call_id or ""
        match payload.type:
            case "task_complete" if payload.error is not None:
                self._error = payload.error
            case "token_count" if isinstance(payload.rate_limits, dict):
                self._resets_at = _reset_of(payload.rate_limits)
            case kind if kind in CALLS:
                self._calls[call_id] = call_in_words(payload.name or "", arguments_of(payload))
            case kind if kind in CALL_OUTPUTS and _is_refusal(payload.output):
                self._refused[call_id] = self._calls.get(call_id, "a call")

    def is_refused(self, call_id: str) -> bool:
        return call_id in self._refused

    @property
    def failure(self) -> NaviError | None:
        if self._error is None:
            return None
        message = error_text(self._error.message)
        info = self._error.codex_error_info
        if isinstance(info, str) and info in LIMITS:
            return UsageLimit(message, resets_at=self._resets_at)
        return failure_of(message, _status_in(info))

    @property
    def refusal(self) -> PermissionRefused | None:
        if not self._refused:
            return None
        return PermissionRefused(list(self._refused.values()), hint=HINT)


def last_turn(home: CodexHome, thread: str) -> list[bytes]:
    """The lines of the thread's last turn; none if the rollout doesn't show where it began."""
    path = home.rollout(thread)
    content = b"" if path is None else path.read_bytes()
    # Inside a text, the quotes would be escaped.
    beginning = max(content.rfind(b'"type":"%s"' % kind.encode()) for kind in TURN_BEGINNINGS)
    if beginning < 0:
        return []
    return content[content.rfind(b"\n", 0, beginning) + 1 :].splitlines()


def failure_of(message: str, status: int | None = None) -> NaviError:
    return UsageLimit(message) if is_usage_limit(status, message) else AgentFailed(message)


def error_text(message: object) -> str:
    """The error's text, which may be a provider's JSON."""
    text = str(message or "the turn failed")
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return text


def arguments_of(item: LivePayload) -> Mapping[str, Any]:
    raw = item.input if item.arguments is None else item.arguments
    try:
        value = json.loads(raw) if isinstance(raw, str) else raw
    except ValueError:
        value = raw
    return value if isinstance(value, dict) else {"input": value}


def _is_refusal(output: object) -> bool:
    parts = output if isinstance(output, list) else [{"text": output}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return any(isinstance(text, str) and _REFUSAL.match(text) for text in texts)


def _status_in(info: object) -> int | None:
    """The status in `{"response_too_many_failed_attempts": {"http_status_code": 429}}`."""
    details = next(iter(info.values()), None) if isinstance(info, dict) else None
    status = details.get("http_status_code") if isinstance(details, dict) else None
    return status if isinstance(status, int) else None


def _reset_of(limits: Mapping[str, Any]) -> datetime | None:
    """When the fullest window resets; if several are full, the last one."""
    windows = [limits.get(name) for name in ("primary", "secondary")]
    resets = [
        (float(window.get("used_percent") or 0), instant_of(window.get("resets_at")))
        for window in windows
        if isinstance(window, dict)
    ]
    valid = [(used, reset) for used, reset in resets if reset is not None]
    return max(valid)[1] if valid else None
