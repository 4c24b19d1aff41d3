"""Turns Claude Code's transcript into events while it works in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from navi.base.errors import Interrupted, NaviError
from navi.live.agents.driver import DriverEvent
from navi.vendors.claude_code.records import LiveLine, decode_live_line, texts_of
from navi.vendors.claude_code.stream import ClaudeCodeReader, failure_of, usage_windows

TAIL_BYTES = 256 * 1024
"""How much of a transcript's end to read for the failure of its last turn."""
INTERRUPTED = "[Request interrupted by user"
HOOK_FEEDBACK = "Stop hook feedback"


class ClaudeCodeTranscriptReader:
    """Reads one turn.

    If the turn begins with a hook's answer, the lines before that belong to the person's own turn.
    """

    def __init__(self, *, begins_with_hook_answer: bool = False) -> None:
        self._begins_with_hook_answer = begins_with_hook_answer
        self._stream = ClaudeCodeReader()
        self._failure: NaviError | None = None
        self.has_begun = False
        self.has_ended = False
        self._is_interrupted = False

    def read(self, line: bytes) -> Iterator[DriverEvent]:
        record = decode_live_line(line)
        if record is None or record.isSidechain:
            return
        match record.type:
            case "user":
                text = _text(record)
                if INTERRUPTED in text:
                    self.has_ended = self._is_interrupted = self.has_begun
                elif self._begins_with_hook_answer:
                    self.has_begun = self.has_begun or text.startswith(HOOK_FEEDBACK)
                elif not record.isMeta and not record.toolUseResult:
                    self.has_begun = True
            case "attachment" if record.attachment is not None:
                if not self._begins_with_hook_answer and record.attachment.type == "queued_command":
                    self.has_begun = True
            case "assistant" if record.isApiErrorMessage:
                self._failure = _failure(record)
                if record.quotaLimits is not None and self.has_begun:
                    yield from usage_windows(record.quotaLimits)
            case "assistant":
                self._failure = None
            case "system" if record.subtype == "turn_duration":
                self.has_ended = self.has_begun
        if self.has_begun:
            yield from self._stream.events(record)

    def raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure
        self._stream.raise_refusal()
        if self._is_interrupted:
            raise Interrupted


def last_failure(transcript: Path) -> NaviError | None:
    """The error that ended the transcript's last turn; None if no error is recorded."""
    with transcript.open("rb") as file:
        file.seek(max(0, transcript.stat().st_size - TAIL_BYTES))
        lines = file.read().split(b"\n")
    failure = None
    for line in lines:
        record = decode_live_line(line)
        if record is not None and record.type == "assistant" and not record.isSidechain:
            failure = _failure(record) if record.isApiErrorMessage else None
    return failure


def _failure(record: LiveLine) -> NaviError:
    return failure_of(_text(record), record.apiErrorStatus, record.quotaLimits)


def _text(record: LiveLine) -> str:
    return "" if record.message is None else "\n".join(texts_of(record.message.content))
