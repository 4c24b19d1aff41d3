"""Reads Codex's rollouts for the index: `sessions/<date>/rollout-<time>-<session id>.jsonl`.

Codex writes every message twice, as an item and as an event. Normally only the item is read.
Before the first item and between turns, the event is read instead; if its item does follow, the
item is ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import BinaryIO

import msgspec

from navi.base.ids import is_agent_session_id
from navi.memory.model import PastMessage, PastOutput, PastTurn, PastUsage, SessionFile
from navi.vendors.codex.home import CodexHome, path_before_archiving, path_in_archive
from navi.vendors.codex.records import (
    ABORTED,
    BOILERPLATE,
    CALL_OUTPUTS,
    EXPENDABLE,
    Line,
    Payload,
    TokenCounts,
    bare_item_decoder,
    folder_in,
    is_injected,
    line_decoder,
    output_text,
    past_call,
    texts_of,
)
from navi.vendors.codex.titles import Titles
from navi.vendors.damaged_line import decode_damaged
from navi.vendors.growing_file import LineParser, LineReading, last_timestamp
from navi.vendors.session_files import entries, session_file
from navi.vendors.source import Chunk, Reading, Source

KIND = b'"type":"'
KIND_WITHIN = 90
"""A line's kind begins within this many bytes of its start, after its time and line number."""
PAYLOAD = b'","payload":{"type":"'

IGNORED = frozenset((b"world_state", b"compacted"))
IGNORED_ITEMS = frozenset(
    (b"tool_search_output", b"ghost_snapshot", b"compaction", b"compaction_summary")
)
"""Items with nothing for the index: no message, no call, and no output worth keeping."""
OUTPUT_ITEMS = CALL_OUTPUTS | {"local_shell_call_output"}
IGNORED_EVENTS = frozenset(
    (
        *(b"agent_reasoning_raw_content", b"agent_reasoning_section_break", b"context_compacted"),
        *(b"entered_review_mode", b"exited_review_mode", b"exec_command_begin"),
        *(b"exec_command_end", b"image_generation_end", b"item_completed", b"item_started"),
        *(b"mcp_tool_call_begin", b"mcp_tool_call_end", b"patch_apply_begin", b"patch_apply_end"),
        *(b"stream_error", b"thread_rolled_back", b"thread_settings_applied", b"turn_diff"),
        *(b"undo_completed", b"view_image_tool_call", b"web_search_begin", b"web_search_end"),
    )
)
"""Events that repeat items or only matter for the screen."""
REPEATING_EVENTS = frozenset((b"agent_message", b"agent_reasoning"))
"""Events to skip because they repeat items, unless `State.reads_events`."""
LONGEST_KIND = 60

_SPAWNER = re.compile(rb'"parent_thread_id"\s*:\s*"([^"]+)"')

MAX_EVENT_DIGESTS = 16
"""How many digests `State.event_digests` keeps."""
COPY_PAUSE = timedelta(seconds=2)
"""A fork begins with a copy of its parent, written without pauses; the lines after a pause
longer than this are the fork's own."""

MAX_OPEN_CALLS = 64
"""How many tool calls may be waiting for their output at the same time."""


class State(msgspec.Struct):
    """The parser's state, stored in marks. A field with `name=` is stored under that older name, so
    that existing marks stay readable."""

    next_idx: int = 0
    next_call: int = 0
    open_calls: dict[str, tuple[int, str]] = {}
    """The number and tool of each call that has no output yet, by Codex's call id."""
    usages: int = 0
    total: tuple[int, int, int, int] | None = None
    """The session's tokens at the last count."""
    has_records: bool = False
    """The file records each answer's tokens, so `token_count` events are ignored."""
    reads_events: bool = msgspec.field(default=True, name="events_speak")
    """Whether messages are read from events: before the first item, and between turns."""
    is_copy: bool = False
    """The current lines are a fork's copy of its parent."""
    has_id: bool = False
    suspect: tuple[int, str] | None = msgspec.field(default=None, name="doubted")
    """The last text that looked injected: its index, or -1 if it was not added, and its digest."""
    event_digests: list[str] = msgspec.field(default_factory=list, name="spoken")
    """Digests of messages that were read from events, in case their items follow."""
    last_agent_message: str | None = msgspec.field(default=None, name="last_letter")
    """The digest of the last message between agents, which may occur twice."""
    last_at: datetime | None = None
    """The time of the copy's last line so far."""


class CodexSource(Source):
    name = "codex"
    version = LineParser.version

    def __init__(self) -> None:
        self._titles = Titles()
        self.unreadable: list[str] = []

    def folders(self) -> list[str]:
        home = CodexHome.of()
        return [str(home.rollouts), str(home.archive)]

    def discover(self) -> Iterator[SessionFile]:
        home = CodexHome.of()
        unreadable = self.unreadable = list[str]()
        yield from _rollouts(str(home.rollouts), unreadable)
        for file in _rollouts(str(home.archive), unreadable):
            path = path_before_archiving(str(home.folder), file.path)
            if not os.path.exists(path):
                yield file._replace(path=path)

    def read(self, file: SessionFile, mark: bytes | None = None) -> Reading:
        current = file._replace(path=self.location(file.path))
        reading = LineReading(current, CodexLineParser(file.path), mark)
        if title := self._titles.of(file.path):
            reading.session.title = title
        return reading

    def resume_command(self, source_session_id: str, cwd: str | None) -> list[str] | None:
        if not is_agent_session_id(source_session_id):
            return None
        return ["codex", "resume", source_session_id]

    def location(self, path: str) -> str:
        return path if os.path.exists(path) else path_in_archive(path)


def _rollouts(folder: str, unreadable: list[str]) -> Iterator[SessionFile]:
    for entry in entries(folder, unreadable):
        if entry.name.endswith(".jsonl"):
            if entry.name.startswith("rollout"):
                yield from session_file(entry, unreadable)
        elif entry.is_dir(follow_symlinks=False):
            yield from _rollouts(entry.path, unreadable)


class CodexLineParser(LineParser):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._state = State()

    def state(self) -> bytes:
        return msgspec.json.encode(self._state)

    def restore(self, state: bytes, file: BinaryIO) -> None:
        self._state = msgspec.json.decode(state, type=State)

    def read_lines(self, lines: list[bytes], offset: int, number: int, chunk: Chunk) -> None:
        decode, state = line_decoder.decode, self._state
        for line_number, text in enumerate(lines, number):
            at = text.find(KIND, 0, KIND_WITHIN) + len(KIND)
            end = text.find(b'"', at, at + LONGEST_KIND)
            kind = text[at:end]
            if kind in IGNORED or kind in IGNORED_ITEMS:
                continue
            if text.startswith(PAYLOAD, end):
                at = end + len(PAYLOAD)
                inner = text[at : text.find(b'"', at, at + LONGEST_KIND)]
                if kind == b"response_item":
                    if inner in IGNORED_ITEMS:
                        continue
                elif inner in IGNORED_EVENTS or (
                    inner in REPEATING_EVENTS and not state.reads_events and not state.is_copy
                ):
                    continue
            try:
                line = decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                if not text or text.isspace():
                    continue
                repaired = decode_damaged(text, line_decoder, EXPENDABLE)
                if repaired is None:
                    self.count_bad_line(line_number)
                    continue
                line = repaired
            if line.payload is None:
                self._read_bare_item(text, line_number, line, chunk)
            elif state.is_copy and self._is_still_copy(line):
                self._read_copied_total(line)
            else:
                self._read_enveloped(line, line.payload, chunk)
        self.session.ended_at = last_timestamp(lines) or self.session.ended_at

    def _read_bare_item(self, text: bytes, number: int, line: Line, chunk: Chunk) -> None:
        """Read a line of the oldest format: an item without a time, or the session's data."""
        try:
            item = bare_item_decoder.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            repaired = decode_damaged(text, bare_item_decoder, EXPENDABLE)
            if repaired is None:
                self.count_bad_line(number)
                return
            item = repaired
        if item.type is not None:
            self._read_item(item, line.timestamp, chunk, "")
        elif item.id is not None:
            self._read_session(item, item.timestamp)
        elif b'"record_type"' not in text:
            self._count_unknown("(no type)")

    def _read_enveloped(self, line: Line, payload: Payload, chunk: Chunk) -> None:
        kind = line.type
        if kind == "response_item":
            self._read_item(payload, line.timestamp, chunk, "response_item/")
        elif kind == "event_msg":
            self._read_event(payload, line.timestamp, chunk)
        elif kind == "turn_context":
            self._state.reads_events = False
            self.session.model = payload.model or self.session.model
            self.session.cwd = payload.cwd or self.session.cwd
        elif kind == "token_usage_record":
            self._state.has_records = True
            if payload.usage is not None:
                self._add_usage(payload.response_id, payload.usage, line.timestamp, chunk)
        elif kind == "session_meta":
            self._read_session(payload, payload.timestamp or line.timestamp)
        elif kind == "message":
            # Occurs only in the earliest documented format, which has calls inside the content.
            self._read_message(payload, line.timestamp, chunk)
        elif kind == "inter_agent_communication":
            self._add_agent_message(payload, line.timestamp, chunk)
        elif kind is None or kind.encode() not in IGNORED:
            self._count_unknown(kind or "(no type)")

    def _read_session(self, meta: Payload, started_at: datetime | None) -> None:
        session, state = self.session, self._state
        if state.has_id:
            # The first record describes this session; a record of its parent precedes the copy.
            state.is_copy = meta.id == session.parent_source_session_id
            return
        state.has_id = True
        session.source_session_id = meta.id
        session.started_at = started_at
        session.cwd = meta.cwd or session.cwd
        session.git_branch = meta.git.branch if meta.git is not None else None
        session.parent_source_session_id = meta.forked_from_id
        source = bytes(meta.source)
        if b'"subagent"' in source:
            session.is_subagent = True
            spawner = _SPAWNER.search(source)
            root = meta.session_id if meta.session_id != meta.id else None
            session.parent_source_session_id = (
                meta.parent_thread_id
                or (spawner[1].decode() if spawner else None)
                or meta.forked_from_id
                or root
            )

    def _is_still_copy(self, line: Line) -> bool:
        """Whether the line belongs to the copy of the session's parent.

        UUIDs of version 7 are ordered by time, so a turn whose id is greater than the session's id
        is the session's own. So are all lines that follow, and all lines after a `COPY_PAUSE`.
        """
        payload, state = line.payload, self._state
        own, turn = self.session.source_session_id, payload.turn_id if payload else None
        if own is not None and turn is not None and turn > own and own[14:15] == turn[14:15] == "7":
            state.is_copy = False
        elif line.timestamp is not None:
            before, state.last_at = state.last_at, line.timestamp
            if before is not None and line.timestamp - before > COPY_PAUSE:
                state.is_copy = False
        return state.is_copy

    def _read_copied_total(self, line: Line) -> None:
        payload = line.payload
        if payload is not None and payload.info is not None:
            self._state.total = _as_tuple(payload.info.total_token_usage)

    def _read_event(self, event: Payload, timestamp: datetime | None, chunk: Chunk) -> None:
        kind, state = event.type, self._state
        if kind == "token_count":
            self._read_token_count(event, timestamp, chunk)
        elif kind == "user_message":
            self._confirm_prompt(event.message, timestamp, chunk)
        elif kind in ("agent_message", "agent_reasoning"):
            if state.reads_events and kind == "agent_message":
                self._add_event_message("assistant", event.message, None, timestamp, chunk)
            elif state.reads_events:
                self._add_event_message("assistant", None, event.text, timestamp, chunk)
        elif kind == "function_call":
            self._add_call(
                event.name or kind, event.parameters or event.arguments, timestamp, chunk
            )
        elif kind in ("task_started", "turn_started"):
            state.reads_events = False
        elif kind in ("task_complete", "turn_complete", "turn_aborted"):
            state.reads_events = True
            state.event_digests = []
            if event.error is not None:
                self._add_failure(event.error.message, timestamp, chunk)
            elif kind == ABORTED:
                self._add_turn("stopped", None, timestamp, chunk)
        elif kind == "error":
            self._add_failure(event.message, timestamp, chunk)
        elif kind == "thread_name_updated":
            self.session.title = event.thread_name or self.session.title
        elif kind is None or kind.encode() not in IGNORED_EVENTS:
            self._count_unknown(f"event_msg/{kind}")

    def _add_failure(self, message: str | None, timestamp: datetime | None, chunk: Chunk) -> None:
        self._add_turn("error", message, timestamp, chunk)
        self._add_message("system", message, None, timestamp, chunk)

    def _add_turn(
        self, outcome: str, error: str | None, timestamp: datetime | None, chunk: Chunk
    ) -> None:
        """Add a turn that was cut short; the file doesn't record who caused it."""
        key = str(self._state.next_idx)
        chunk.turns.append(PastTurn(key, None, outcome, error, timestamp))

    def _confirm_prompt(self, text: str | None, timestamp: datetime | None, chunk: Chunk) -> None:
        """Read the event of a prompt. Every typed prompt has one, even if its text looks injected;
        injected texts have none."""
        state = self._state
        if state.reads_events:
            self._add_event_message("user", text, None, timestamp, chunk)
        elif text and state.suspect is not None and state.suspect[1] == _digest(text):
            idx = state.suspect[0]
            if idx < 0:
                self._add_message("user", text, None, timestamp, chunk)
            else:
                chunk.messages.append(PastMessage(idx, "user", text, None, timestamp))
        state.suspect = None

    def _read_item(
        self, item: Payload, timestamp: datetime | None, chunk: Chunk, prefix: str
    ) -> None:
        kind = item.type or "(no type)"
        if kind in OUTPUT_ITEMS:
            self._read_output(item, timestamp, chunk)
            return
        self._state.reads_events = False
        if kind == "message":
            if item.role == "user":
                self._read_prompt(item, timestamp, chunk)
            else:
                self._read_message(item, timestamp, chunk)
        elif kind == "reasoning":
            thought = "\n\n".join(texts_of(item.summary) or texts_of(item.content))
            if not self._repeats_event("assistant", None, thought):
                self._add_message("assistant", None, thought, timestamp, chunk)
        elif kind == "agent_message":
            self._add_agent_message(item, timestamp, chunk)
        elif kind.endswith("_call"):
            arguments = item.arguments or item.input or item.action
            self._add_call(item.name or kind, arguments, timestamp, chunk, item.call_id)
        elif kind.encode() not in IGNORED_ITEMS:
            self._count_unknown(prefix + kind)

    def _read_prompt(self, item: Payload, timestamp: datetime | None, chunk: Chunk) -> None:
        typed: list[str] = []
        for text in texts_of(item.content):
            if text.startswith(BOILERPLATE):
                self._state.suspect = (-1, _digest(text))
                self.session.cwd = self.session.cwd or folder_in(text)
            elif is_injected(text):
                self._state.suspect = (self._state.next_idx, _digest(text))
                self._add_message("system", text, None, timestamp, chunk)
            else:
                typed.append(text)
        prompt = "\n\n".join(typed)
        if not self._repeats_event("user", prompt, None):
            self._add_message("user", prompt, None, timestamp, chunk)

    def _add_agent_message(self, item: Payload, timestamp: datetime | None, chunk: Chunk) -> None:
        """Add a message from one agent to another."""
        text = "\n\n".join(texts_of(item.content)) or item.message or item.text
        names = [name for name in (item.author, item.recipient) if name]
        if not text:
            return
        if names:
            text = f"{' to '.join(names)}: {text}"
        digest = _digest(text)
        if digest != self._state.last_agent_message:
            self._state.last_agent_message = digest
            self._add_message("system", text, None, timestamp, chunk)

    def _read_message(self, item: Payload, timestamp: datetime | None, chunk: Chunk) -> None:
        if item.role not in ("user", "assistant"):
            return
        idx, content = self._state.next_idx, item.content
        calls = [
            part
            for part in (content if isinstance(content, list) else ())
            if not isinstance(part, str) and part.type == "tool_use"
        ]
        text = "\n\n".join(texts_of(content))
        if not calls and self._repeats_event(item.role, text, None):
            return
        self._add_message(item.role, text, None, timestamp, chunk, even_if_empty=bool(calls))
        for number, part in enumerate(calls):
            chunk.tool_calls.append(
                past_call(idx, number, part.name or "tool_use", part.input, timestamp)
            )

    def _add_event_message(
        self,
        role: str,
        content: str | None,
        thinking: str | None,
        timestamp: datetime | None,
        chunk: Chunk,
    ) -> None:
        """Add a message from an event, and remember it, because its item may follow."""
        self._add_message(role, content, thinking, timestamp, chunk)
        digests = [*self._state.event_digests, _message_digest(role, content, thinking)]
        self._state.event_digests = digests[-MAX_EVENT_DIGESTS:]

    def _repeats_event(self, role: str, content: str | None, thinking: str | None) -> bool:
        """Whether this item repeats an event. Each event is matched once."""
        digests = self._state.event_digests
        if not digests or not (content or thinking):
            return False
        digest = _message_digest(role, content, thinking)
        if digest in digests:
            digests.remove(digest)
            return True
        # The conversation went on, so the items of those events won't come.
        self._state.event_digests = []
        return False

    def _add_message(
        self,
        role: str,
        content: str | None,
        thinking: str | None,
        timestamp: datetime | None,
        chunk: Chunk,
        even_if_empty: bool = False,
    ) -> None:
        if content or thinking or even_if_empty:
            message = PastMessage(
                self._state.next_idx, role, content or None, thinking or None, timestamp
            )
            chunk.messages.append(message)
            self._state.next_idx += 1

    def _add_call(
        self,
        name: str,
        arguments: msgspec.Raw,
        timestamp: datetime | None,
        chunk: Chunk,
        id: str | None = None,
    ) -> None:
        number, open_calls = self._state.next_call, self._state.open_calls
        chunk.tool_calls.append(past_call(None, number, name, arguments, timestamp))
        self._state.next_call += 1
        if id is not None:
            if len(open_calls) >= MAX_OPEN_CALLS:
                del open_calls[next(iter(open_calls))]
            open_calls[id] = number, name

    def _read_output(self, item: Payload, timestamp: datetime | None, chunk: Chunk) -> None:
        """Read a tool's output."""
        call = self._state.open_calls.pop(item.call_id or "", None)
        if call is None:
            return
        text, is_error = output_text(item.output)
        if text or is_error:
            chunk.outputs.append(PastOutput(None, call[0], call[1], text, timestamp, is_error))

    def _read_token_count(self, event: Payload, timestamp: datetime | None, chunk: Chunk) -> None:
        """Counts are repeated when the screen is drawn; only a changed total means a new answer."""
        info, state = event.info, self._state
        if info is None or info.last_token_usage is None or state.has_records:
            return
        total = _as_tuple(info.total_token_usage)
        if total is None or total != state.total:
            state.total = total
            self._add_usage(None, info.last_token_usage, timestamp, chunk)

    def _add_usage(
        self, key: str | None, counts: TokenCounts, timestamp: datetime | None, chunk: Chunk
    ) -> None:
        cached, written = counts.cached_input_tokens, counts.cache_write_input_tokens
        session, state = self.session, self._state
        chunk.usages.append(
            PastUsage(
                key or f"{session.source_session_id or self.path}:{state.usages}",
                session.model,
                timestamp,
                max(0, counts.input_tokens - cached - written),
                counts.output_tokens,
                cached,
                written,
            )
        )
        state.usages += 1

    def _count_unknown(self, kind: str) -> None:
        counts = self.session.unknown_kinds
        counts[kind] = counts.get(kind, 0) + 1


def _as_tuple(counts: TokenCounts | None) -> tuple[int, int, int, int] | None:
    if counts is None:
        return None
    return (
        counts.input_tokens,
        counts.cached_input_tokens,
        counts.cache_write_input_tokens,
        counts.output_tokens,
    )


def _message_digest(role: str, content: str | None, thinking: str | None) -> str:
    return _digest(f"{role}:{content or ''}:{thinking or ''}")


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
