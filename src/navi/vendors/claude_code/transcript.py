"""The transcript of Claude Code in a terminal, as the events of one turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from navi.agents.driver import Told
from navi.agents.limits import instant_of
from navi.domain.errors import NaviError
from navi.vendors.claude_code.stream import ClaudeCodeReader, failure_of

INTERRUPTED = "[Request interrupted by user"
HOOK_FEEDBACK = "Stop hook feedback"


class ClaudeCodeTranscriptReader:
    """`is_handed_over`: the turn began with the answer of a hook. What was said before it, and is
    written down only now, belongs to the person's own turn."""

    def __init__(self, *, is_handed_over: bool = False) -> None:
        self._is_handed_over = is_handed_over
        self._stream = ClaudeCodeReader()
        self._failure: NaviError | None = None
        self.has_begun = False
        self.has_ended = False

    def read(self, line: bytes) -> Iterator[Told]:
        try:
            said = json.loads(line)
        except ValueError:
            return
        if said.get("isSidechain"):
            return
        match said.get("type"):
            case "user":
                text = _text(said)
                if INTERRUPTED in text:
                    self.has_ended = self.has_begun
                elif self._is_handed_over:
                    self.has_begun = self.has_begun or text.startswith(HOOK_FEEDBACK)
                elif not said.get("isMeta") and "toolUseResult" not in said:
                    self.has_begun = True
            case "attachment" if (
                not self._is_handed_over
                and (said.get("attachment") or {}).get("type") == "queued_command"
            ):
                self.has_begun = True
            case "assistant" if said.get("isApiErrorMessage"):
                self._failure = _failure(said)
            case "assistant":
                self._failure = None
            case "system" if said.get("subtype") == "turn_duration":
                self.has_ended = self.has_begun
        if self.has_begun:
            yield from self._stream.read(line)

    def judge(self) -> None:
        if self._failure is not None:
            raise self._failure
        self._stream.require_permitted()


def _failure(said: Mapping[str, Any]) -> NaviError:
    limits = said.get("quotaLimits") or {}
    resets_at = instant_of(limits.get("resetsAt"))
    return failure_of(_text(said), said.get("apiErrorStatus"), resets_at)


def _text(said: Mapping[str, Any]) -> str:
    message = said.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
