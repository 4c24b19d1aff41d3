"""Reads Codex's rollouts for the index: `sessions/<date>/rollout-<time>-<session id>.jsonl`.

Codex writes every message twice, as an item and as an event. Items count; an event counts only if
it can't repeat an item: before the first one, or between turns. If its item follows nonetheless,
the item is ignored.
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
from navi.memory.model import FoundFile, PastMessage, PastUsage
from navi.vendors.codex.home import CodexHome, path_before_archiving, path_in_archive
from navi.vendors.codex.records import (
    BOILERPLATE,
    DOUBTFUL,
    Line,
    Payload,
    TokenCounts,
    bare_items,
    folder_in,
    is_injected,
    past_call,
    texts_of,
)
from navi.vendors.codex.records import lines as line_decoder
from navi.vendors.codex.titles import Titles
from navi.vendors.damaged_line import decode_damaged
from navi.vendors.growing_file import LineReading, Transcript, last_moment
from navi.vendors.session_files import entries, session_file
from navi.vendors.source import Chunk, Reading, Source

KIND = b'"type":"'
KIND_WITHIN = 90
"""A line's kind is within this many bytes, after its time and number."""
PAYLOAD = b'","payload":{"type":"'

IGNORED = frozenset((b"world_state", b"compacted"))
IGNORED_ITEMS = frozenset(
    (
        *(b"function_call_output", b"custom_tool_call_output", b"tool_search_output"),
        *(b"local_shell_call_output", b"ghost_snapshot", b"compaction", b"compaction_summary"),
    )
)
"""Items that are neither messages nor calls."""
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
"""Events that repeat items, unless `State.events_speak`."""
LONGEST_KIND = 60

_SPAWNER = re.compile(rb'"parent_thread_id"\s*:\s*"([^"]+)"')

MOST_SPOKEN = 16
"""How many messages from events to remember, in case their items follow."""
COPY_PAUSE = timedelta(seconds=2)
"""A fork's copy of its parent is written at once; lines after a longer pause are its own."""


class State(msgspec.Struct):
    next_idx: int = 0
    next_call: int = 0
    usages: int = 0
    total: tuple[int, int, int, int] | None = None
    """The session's tokens at the last count."""
    has_records: bool = False
    """The file records each answer's tokens, so token counts are ignored."""
    events_speak: bool = True
    """Messages are read from events: no item has come yet, or no turn is running."""
    is_copy: bool = False
    has_id: bool = False
    doubted: tuple[int, str] | None = None
    """The index and digest of the last message that looked injected."""
    spoken: list[str] = []
    """Digests of this turn's messages from events, which later items may repeat."""
    last_letter: str | None = None
    """The digest of the last message between agents, which may occur twice."""
    last_at: datetime | None = None
    """The time of the last line of a copy."""


class CodexSource(Source):
    name = "codex"
    version = Transcript.version

    def __init__(self) -> None:
        self._titles = Titles()
        self.unreadable: list[str] = []

    def folders(self) -> list[str]:
        home = CodexHome.of()
        return [str(home.rollouts), str(home.archive)]

    def discover(self) -> Iterator[FoundFile]:
        home = CodexHome.of()
        unreadable = self.unreadable = list[str]()
        yield from _rollouts(str(home.rollouts), unreadable)
        for file in _rollouts(str(home.archive), unreadable):
            path = path_before_archiving(str(home.folder), file.path)
            if not os.path.exists(path):
                yield file._replace(path=path)

    def read(self, file: FoundFile, mark: bytes | None = None) -> Reading:
        current = file
        if not os.path.exists(file.path):
            current = file._replace(path=path_in_archive(file.path))
        reading = LineReading(current, CodexTranscript(file.path), mark)
        if title := self._titles.of(file.path):
            reading.session.title = title
        return reading

    def resume_command(self, source_session_id: str, cwd: str | None) -> list[str] | None:
        if not is_agent_session_id(source_session_id):
            return None
        return ["codex", "resume", source_session_id]


def _rollouts(folder: str, unreadable: list[str]) -> Iterator[FoundFile]:
    for entry in entries(folder, unreadable):
        if entry.name.endswith(".jsonl"):
            if entry.name.startswith("rollout"):
                yield from session_file(entry, unreadable)
        elif entry.is_dir(follow_symlinks=False):
            yield from _rollouts(entry.path, unreadable)


class CodexTranscript(Transcript):
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
                    inner in REPEATING_EVENTS and not state.events_speak and not state.is_copy
                ):
                    continue
            try:
                line = decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                if not text or text.isspace():
                    continue
                repaired = decode_damaged(text, line_decoder, DOUBTFUL)
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
        self.session.ended_at = last_moment(lines) or self.session.ended_at

    def _read_bare_item(self, text: bytes, number: int, line: Line, chunk: Chunk) -> None:
        """Read a line of the oldest format: an item without a time, or the session's data."""
        try:
            item = bare_items.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            repaired = decode_damaged(text, bare_items, DOUBTFUL)
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
            self._state.events_speak = False
            self.session.model = payload.model or self.session.model
            self.session.cwd = payload.cwd or self.session.cwd
        elif kind == "token_usage_record":
            self._state.has_records = True
            if payload.usage is not None:
                self._add_usage(payload.response_id, payload.usage, line.timestamp, chunk)
        elif kind == "session_meta":
            self._read_session(payload, payload.timestamp or line.timestamp)
        elif kind == "message":
            # As in the first description of the format, with calls among the content.
            self._read_message(payload, line.timestamp, chunk)
        elif kind == "inter_agent_communication":
            self._add_letter(payload, line.timestamp, chunk)
        elif kind is None or kind.encode() not in IGNORED:
            self._count_unknown(kind or "(no type)")

    def _read_session(self, meta: Payload, started_at: datetime | None) -> None:
        session, state = self.session, self._state
        if state.has_id:
            # The first one is this session's; a later one is its parent's, whose copy follows.
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

        Turn ids are ordered by time: the first one newer than the session is its own.
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
            self._state.total = _numbers(payload.info.total_token_usage)

    def _read_event(self, event: Payload, timestamp: datetime | None, chunk: Chunk) -> None:
        kind, state = event.type, self._state
        if kind == "token_count":
            self._read_token_count(event, timestamp, chunk)
        elif kind == "user_message":
            self._confirm_prompt(event.message, timestamp, chunk)
        elif kind in ("agent_message", "agent_reasoning"):
            if state.events_speak and kind == "agent_message":
                self._add_event_message("assistant", event.message, None, timestamp, chunk)
            elif state.events_speak:
                self._add_event_message("assistant", None, event.text, timestamp, chunk)
        elif kind == "function_call":
            self._add_call(
                event.name or kind, event.parameters or event.arguments, timestamp, chunk
            )
        elif kind in ("task_started", "turn_started"):
            state.events_speak = False
        elif kind in ("task_complete", "turn_complete", "turn_aborted"):
            state.events_speak = True
            state.spoken = []
            if event.error is not None:
                self._add_message("system", event.error.message, None, timestamp, chunk)
        elif kind == "error":
            self._add_message("system", event.message, None, timestamp, chunk)
        elif kind == "thread_name_updated":
            self.session.title = event.thread_name or self.session.title
        elif kind is None or kind.encode() not in IGNORED_EVENTS:
            self._count_unknown(f"event_msg/{kind}")

    def _confirm_prompt(self, text: str | None, timestamp: datetime | None, chunk: Chunk) -> None:
        """Read the event of a prompt that a person typed, even if its item looked injected."""
        state = self._state
        if state.events_speak:
            self._add_event_message("user", text, None, timestamp, chunk)
        elif text and state.doubted is not None and state.doubted[1] == _digest(text):
            idx = state.doubted[0]
            if idx < 0:
                self._add_message("user", text, None, timestamp, chunk)
            else:
                chunk.messages.append(PastMessage(idx, "user", text, None, timestamp))
        state.doubted = None

    def _read_item(
        self, item: Payload, timestamp: datetime | None, chunk: Chunk, prefix: str
    ) -> None:
        kind = item.type or "(no type)"
        self._state.events_speak = False
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
            self._add_letter(item, timestamp, chunk)
        elif kind.endswith("_call"):
            arguments = item.arguments or item.input or item.action
            self._add_call(item.name or kind, arguments, timestamp, chunk)
        elif kind.encode() not in IGNORED_ITEMS:
            self._count_unknown(prefix + kind)

    def _read_prompt(self, item: Payload, timestamp: datetime | None, chunk: Chunk) -> None:
        typed: list[str] = []
        for text in texts_of(item.content):
            if text.startswith(BOILERPLATE):
                self._state.doubted = (-1, _digest(text))
                self.session.cwd = self.session.cwd or folder_in(text)
            elif is_injected(text):
                self._state.doubted = (self._state.next_idx, _digest(text))
                self._add_message("system", text, None, timestamp, chunk)
            else:
                typed.append(text)
        prompt = "\n\n".join(typed)
        if not self._repeats_event("user", prompt, None):
            self._add_message("user", prompt, None, timestamp, chunk)

    def _add_letter(self, item: Payload, timestamp: datetime | None, chunk: Chunk) -> None:
        """Add a message from one agent to another."""
        text = "\n\n".join(texts_of(item.content)) or item.message or item.text
        names = [name for name in (item.author, item.recipient) if name]
        if not text:
            return
        if names:
            text = f"{' to '.join(names)}: {text}"
        digest = _digest(text)
        if digest != self._state.last_letter:
            self._state.last_letter = digest
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
        spoken = [*self._state.spoken, _message_digest(role, content, thinking)]
        self._state.spoken = spoken[-MOST_SPOKEN:]

    def _repeats_event(self, role: str, content: str | None, thinking: str | None) -> bool:
        """Whether this item repeats an event, which is then forgotten."""
        spoken = self._state.spoken
        if not spoken or not (content or thinking):
            return False
        digest = _message_digest(role, content, thinking)
        if digest in spoken:
            spoken.remove(digest)
            return True
        # The conversation went on, so the items of those events won't come.
        self._state.spoken = []
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
        self, name: str, arguments: msgspec.Raw, timestamp: datetime | None, chunk: Chunk
    ) -> None:
        chunk.tool_calls.append(past_call(None, self._state.next_call, name, arguments, timestamp))
        self._state.next_call += 1

    def _read_token_count(self, event: Payload, timestamp: datetime | None, chunk: Chunk) -> None:
        """Counts are repeated when the screen is drawn; only a changed total means a new answer."""
        info, state = event.info, self._state
        if info is None or info.last_token_usage is None or state.has_records:
            return
        total = _numbers(info.total_token_usage)
        if total is None or total != state.total:
            state.total = total
            self._add_usage(None, info.last_token_usage, timestamp, chunk)

    def _add_usage(
        self, key: str | None, spent: TokenCounts, timestamp: datetime | None, chunk: Chunk
    ) -> None:
        cached, written = spent.cached_input_tokens, spent.cache_write_input_tokens
        session, state = self.session, self._state
        chunk.usages.append(
            PastUsage(
                key or f"{session.source_session_id or self.path}:{state.usages}",
                session.model,
                timestamp,
                max(0, spent.input_tokens - cached - written),
                spent.output_tokens,
                cached,
                written,
            )
        )
        state.usages += 1

    def _count_unknown(self, kind: str) -> None:
        counts = self.session.unknown_kinds
        counts[kind] = counts.get(kind, 0) + 1


def _numbers(spent: TokenCounts | None) -> tuple[int, int, int, int] | None:
    if spent is None:
        return None
    return (
        spent.input_tokens,
        spent.cached_input_tokens,
        spent.cache_write_input_tokens,
        spent.output_tokens,
    )


def _message_digest(role: str, content: str | None, thinking: str | None) -> str:
    return _digest(f"{role}:{content or ''}:{thinking or ''}")


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
