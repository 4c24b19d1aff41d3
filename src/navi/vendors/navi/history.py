"""Reads Navi's own sessions for the index, through the live store's code.

Reading neither blocks a running server nor waits for it. A session's "file" is a name made of the
store's address and the session's id. Sessions of agents that write their own transcripts are
skipped, because those agents' sources read them.

Loading the store's libraries takes longer than a search, so they are imported only when `stamp`
shows that something may have changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from navi.base.errors import SessionNotFound
from navi.base.paths import database_url, store_file
from navi.memory.model import (
    PastMessage,
    PastOutput,
    PastSession,
    PastToolCall,
    PastTurn,
    PastUsage,
    SessionFile,
)
from navi.vendors.source import Chunk, Reading, Rewritten, Source

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from navi.live.model.message import Message

MESSAGES_PER_CHUNK = 500
SHELL_TOOL = "terminal"
PANE_DRIVER = "tmux"
"""The driver of agents in panes."""


class Mark(msgspec.Struct):
    version: int = 4
    idx: int = -1
    """The index of the last message that was read; -1 before the first one."""
    message_id: str | None = None
    turns_since: datetime | None = None
    """Every turn that began before this instant has ended, and its tokens have been counted."""
    bad_lines: int = 0


class NaviSource(Source):
    name = "navi"
    version = 3
    has_session_files = False

    def stamp(self) -> str | None:
        """The state of SQLite's files; None for PostgreSQL, which has to be queried each time."""
        file = store_file(database_url())
        if file is None:
            return None
        return " ".join(_stamp_of(path) for path in (str(file), f"{file}-wal"))

    def folders(self) -> list[str]:
        return []

    def covers(self, path: str) -> bool:
        """Whether the path belongs to the configured store, not to another one in the index."""
        from navi.live.store.engine.connection import public_address

        return path.startswith(f"{public_address(database_url())}#")

    def discover(self) -> Iterator[SessionFile]:
        url = database_url()
        file = store_file(url)
        if file is not None and not file.exists():
            return
        from navi.live.store import session_history
        from navi.live.store.engine.connection import public_address

        with session_history.reading(url) as connection:
            extents = session_history.extents(connection, _drivers_with_files())
        store = public_address(url)
        for session_id, updated_at, next_idx in extents:
            yield SessionFile(f"{store}#{session_id}", updated_at.timestamp(), next_idx)

    def read(self, file: SessionFile, mark: bytes | None = None) -> Reading:
        return NaviReading(file.path, mark)

    def resume_command(self, source_session_id: str, cwd: str | None) -> list[str] | None:
        # A message to the session resumes it; there is no program to start.
        return None


class NaviReading(Reading):
    def __init__(self, path: str, mark: bytes | None) -> None:
        from navi.live.store import session_history

        self._path = path
        self._id = path.rpartition("#")[2]
        self._mark = _decode_mark(mark, path)
        self._has_ended = False
        with ExitStack() as opening:
            # One transaction, so that the session, its messages and its turns are consistent.
            self._connection: Connection = opening.enter_context(
                session_history.reading(database_url())
            )
            self.session = self._read_session()
            if self._mark.message_id is not None:
                self._require_last_message()
            self._next_idx = session_history.next_idx(self._connection, self._id)
            self._resources = opening.pop_all()

    @property
    def mark(self) -> bytes:
        return msgspec.json.encode(self._mark)

    def __next__(self) -> Chunk:
        if self._has_ended:
            raise StopIteration
        chunk = Chunk()
        try:
            while not chunk.messages and self._mark.idx + 1 < self._next_idx:
                self._read_messages(chunk)
            if not chunk.messages:
                self._read_turns(chunk)
                self.close()
        except BaseException:
            self.close()
            raise
        if not chunk.messages and not chunk.usages and not chunk.turns:
            raise StopIteration
        return chunk

    def close(self) -> None:
        self._has_ended = True
        self._resources.close()

    def _read_session(self) -> PastSession:
        from navi.live.store import sessions

        try:
            session = sessions.get(self._connection, self._id)
        except SessionNotFound as error:
            raise FileNotFoundError(f"there is no session {self._id} in {self._path}") from error
        return PastSession(
            source_session_id=self._id,
            parent_source_session_id=session.parent_id,
            is_subagent=session.parent_id is not None,
            title=session.title,
            started_at=session.created_at,
            ended_at=session.updated_at,
            model=session.model,
            cwd=session.cwd,
            bad_lines=self._mark.bad_lines,
        )

    def _require_last_message(self) -> None:
        """Raise `Rewritten` if the last message that was read is gone.

        A turn that produced nothing is undone: its message is removed, and the next message gets
        the same `idx`.
        """
        from navi.live.store import transcript

        message = transcript.find(self._connection, self._mark.message_id or "")
        if message is None or message.session_id != self._id:
            raise Rewritten(self._path)

    def _read_messages(self, chunk: Chunk) -> None:
        first, after_last = self._mark.idx + 1, self._mark.idx + 1 + MESSAGES_PER_CHUNK
        try:
            self._add(first, after_last, chunk)
        except (ValueError, TypeError, KeyError):
            # At least one row can't be decoded, so read them one by one.
            for idx in range(first, min(after_last, self._next_idx)):
                try:
                    self._add(idx, idx + 1, chunk)
                except (ValueError, TypeError, KeyError):
                    self._mark.bad_lines += 1
                    self.session.bad_lines = self._mark.bad_lines
        self._mark.idx = min(after_last, self._next_idx) - 1

    def _add(self, first: int, after_last: int, chunk: Chunk) -> None:
        from navi.live.store import transcript

        messages = transcript.read(
            self._connection, self._id, after_idx=first - 1, before_idx=after_last
        )
        for message in messages:
            chunk.messages.append(_past_message(message))
            chunk.tool_calls += _past_calls(message)
            chunk.outputs += _past_outputs(message)
            self._mark.message_id = message.id

    def _read_turns(self, chunk: Chunk) -> None:
        from navi.live.store import session_history

        turns = session_history.past_turns(self._connection, self._id, self._mark.turns_since)
        for turn in turns:
            usage = turn.usage
            tokens = (
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_tokens,
                usage.cache_creation_tokens,
            )
            if any(tokens):
                model = self.session.model
                chunk.usages.append(PastUsage(turn.turn_id, model, turn.started_at, *tokens))
            if turn.is_over and turn.outcome is not None:
                chunk.turns.append(
                    PastTurn(turn.turn_id, turn.origin, turn.outcome, turn.error, turn.started_at)
                )
        if turns:
            running = [turn.started_at for turn in turns if not turn.is_over]
            self._mark.turns_since = min([turns[-1].started_at, *running])


def _drivers_with_files() -> list[str]:
    """Drivers of agents that write their own transcripts, which other sources read."""
    from navi.vendors.registry import sources

    return [*(name for name in sources() if name != NaviSource.name), PANE_DRIVER]


def _past_message(message: Message) -> PastMessage:
    # Recalls, automations and other agents also write with the role `user`.
    is_injected = message.role == "user" and message.source != "user"
    return PastMessage(
        message.idx,
        "system" if is_injected else str(message.role),
        message.content or None,
        message.thinking or None,
        message.timestamp,
    )


def _past_calls(message: Message) -> Iterator[PastToolCall]:
    for idx, call in enumerate(message.tool_calls):
        arguments: dict[str, Any] = dict(call.arguments)
        command = arguments.get("command") if call.name == SHELL_TOOL else None
        yield PastToolCall(
            message.idx,
            idx,
            call.name,
            msgspec.json.encode(arguments).decode(),
            command if isinstance(command, str) else None,
            message.timestamp,
        )


def _past_outputs(message: Message) -> Iterator[PastOutput]:
    for idx, call in enumerate(message.tool_calls):
        if call.result:
            yield PastOutput(
                message.idx, idx, call.name, call.result, message.timestamp, call.is_error
            )


def _stamp_of(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return "-"
    return f"{status.st_ino}.{status.st_mtime_ns}.{status.st_size}"


def _decode_mark(mark: bytes | None, path: str) -> Mark:
    if mark is None:
        return Mark()
    try:
        decoded = msgspec.json.decode(mark, type=Mark)
    except msgspec.DecodeError as error:
        raise Rewritten(path) from error
    if decoded.version != Mark().version:
        raise Rewritten(path)
    return decoded
