"""Reads from Codex's rollout how a turn ended.

`codex exec` doesn't print which calls were refused or when a limit resets; the rollout has both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from navi.base.errors import AgentFailed, NaviError, PermissionRefused, UsageLimit
from navi.live.agents.usage_limits import instant_of, is_usage_limit, limit_kind
from navi.live.model.event import UsageWindow
from navi.live.model.refusal import call_in_words
from navi.vendors.codex.home import CodexHome
from navi.vendors.codex.records import (
    CALL_OUTPUTS,
    CALLS,
    TURN_BEGINNINGS,
    LiveFailure,
    LivePayload,
    decode_live_line,
)

HINT = "allow this in Codex's settings, or set `arguments` under [codex] in Navi's"
LIMIT_ERRORS = {"usage_limit_exceeded", "rate_limit_exceeded", "server_overloaded"}
KINDS = {300: "five_hour", 10_080: "seven_day"}
"""Names for usage windows by their length in minutes; Claude Code uses the same names."""
NEVER = datetime.min.replace(tzinfo=UTC)
# Matched only at the start of a call's output: a command's own text comes later, so it can't look
# like a refusal.
_REFUSAL = re.compile(
    r"approval policy is .*; reject command|patch rejected\b|exec command rejected by user|"
    r"[\w ]+ (?:failed|error): .*\bRejected\(|Rejected\(|"
    r"MCP tool call (?:requires approval|cancelled|blocked)|user (?:rejected|cancelled) MCP tool"
)


class CodexEnding:
    """How a turn ended, according to the lines read so far."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self._error: LiveFailure | None = None
        self.windows: list[UsageWindow] = []
        """The account's usage windows, as Codex last reported them."""

    @classmethod
    def of(cls, lines: Iterable[bytes]) -> CodexEnding:
        ending = cls()
        for text in lines:
            line = decode_live_line(text)
            if line is not None and line.payload is not None:
                ending.read(line.payload)
        return ending

    def read(self, payload: LivePayload) -> None:
        call_id = payload.call_id or ""
        match payload.type:
            case "task_complete" if payload.error is not None:
                self._error = payload.error
            case "token_count" if isinstance(payload.rate_limits, dict):
                self.set_windows(payload.rate_limits)
            case kind if kind in CALLS:
                self._calls[call_id] = call_in_words(payload.name or "", arguments_of(payload))
            case kind if kind in CALL_OUTPUTS and _is_refusal(payload.output):
                self._refused[call_id] = self._calls.get(call_id, "a call")

    def set_windows(self, rate_limits: Mapping[str, Any]) -> None:
        # A report need not name every window.
        self.windows = list(_windows_in(rate_limits)) or self.windows

    def set_failure(self, message: str | None, info: object = None) -> None:
        self._error = LiveFailure(message=message, codex_error_info=info)

    def is_refused(self, call_id: str) -> bool:
        return call_id in self._refused

    @property
    def failure(self) -> NaviError | None:
        if self._error is None:
            return None
        message = error_text(self._error.message)
        info = self._error.codex_error_info
        if isinstance(info, str) and info in LIMIT_ERRORS:
            return self._limit(info, message)
        return failure_of(message, _status_in(info))

    def _limit(self, info: str, message: str) -> UsageLimit:
        if info == "server_overloaded":
            return UsageLimit(message, limit_kind="overload")
        fullest = max(self.windows, key=_fullness, default=None)
        is_used_up = fullest is not None and (fullest.used_percent or 0) >= 100
        if fullest is None or not (is_used_up or info == "usage_limit_exceeded"):
            return UsageLimit(message, limit_kind=limit_kind(None, message))
        return UsageLimit(message, resets_at=fullest.resets_at, limit_kind=fullest.kind)

    @property
    def refusal(self) -> PermissionRefused | None:
        if not self._refused:
            return None
        return PermissionRefused(list(self._refused.values()), hint=HINT)


def last_turn(home: CodexHome, thread: str) -> list[bytes]:
    """The lines of the thread's last turn; none if the rollout doesn't show where it began."""
    path = home.rollout(thread)
    content = b"" if path is None else path.read_bytes()
    # This can't match inside a message: there the quotes are escaped.
    beginning = max(content.rfind(b'"type":"%s"' % kind.encode()) for kind in TURN_BEGINNINGS)
    if beginning < 0:
        return []
    return content[content.rfind(b"\n", 0, beginning) + 1 :].splitlines()


def failure_of(message: str, status: int | None = None) -> NaviError:
    if not is_usage_limit(status, message):
        return AgentFailed(message)
    return UsageLimit(message, limit_kind=limit_kind(status, message))


def error_text(message: object) -> str:
    """The error's text, taken out of the JSON if `message` is a provider's answer."""
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


def _windows_in(limits: Mapping[str, Any]) -> Iterator[UsageWindow]:
    for name in ("primary", "secondary"):
        window = limits.get(name)
        if not isinstance(window, dict):
            continue
        used, minutes = window.get("used_percent"), window.get("window_minutes")
        yield UsageWindow(
            kind=KINDS.get(minutes, name) if isinstance(minutes, int) else name,
            used_percent=float(used) if isinstance(used, int | float) else None,
            resets_at=instant_of(window.get("resets_at")),
        )


def _fullness(window: UsageWindow) -> tuple[bool, float, datetime]:
    """The fullest window is the limit; of two that are equally full, the one that resets later."""
    resets_at = window.resets_at
    return resets_at is not None, window.used_percent or 0, resets_at or NEVER
