"""Turns Claude Code's transcript into events while it works in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from navi.base.errors import NaviError
from navi.live.agents.driver import DriverEvent
from navi.live.agents.usage_limits import instant_of
from navi.vendors.claude_code.records import LiveLine, live_line, texts_of
from navi.vendors.claude_code.stream import ClaudeCodeReader, failure_of

INTERRUPTED = "[Request interrupted by user"
HOOK_FEEDBACK = "Stop hook feedback"


class ClaudeCodeTranscriptReader:
    """`is_handed_over` is for turns that begin with a hook's answer: lines before it belong to the
    person's own turn."""

    def __init__(self, *, is_handed_over: bool = False) -> None:
        self._is_handed_over = is_handed_over
        self._stream = ClaudeCodeReader()
        self._failure: NaviError | None = None
        self.has_begun = False
        self.has_ended = False

    def read(self, line: bytes) -> Iterator[DriverEvent]:
        record = live_line(line)
        if record is None or record.isSidechain:
            return
        match record.type:
            case "user":
                text = _text(record)
                if INTERRUPTED in text:
                    self.has_ended = self.has_begun
                elif self._is_handed_over:
                    self.has_begun = self.has_begun or text.startswith(HOOK_FEEDBACK)
                elif not record.isMeta and not record.toolUseResult:
                    self.has_begun = True
            case "attachment" if record.attachment is not None:
                if not self._is_handed_over and record.attachment.type == "queued_command":
                    self.has_begun = True
            case "assistant" if record.isApiErrorMessage:
                self._failure = _failure(record)
            case "assistant":
                self._failure = None
            case "system" if record.subtype == "turn_duration":
                self.has_ended = self.has_begun
        if self.has_begun:
            yield from self._stream.events(record)

    def raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure
        self._stream.require_permitted()


def _failure(record: LiveLine) -> NaviError:
    limits = record.quotaLimits
    resets_at = None if limits is None else instant_of(limits.resetsAt)
    return failure_of(_text(record), record.apiErrorStatus, resets_at)


def _text(record: LiveLine) -> str:
    return "" if record.message is None else "\n".join(texts_of(record.message.content))
