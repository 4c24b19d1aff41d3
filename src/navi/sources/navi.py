"""Navi's own sessions, read from the file of its live store.

The store's tables are to this source what lines are to the others: the format of an agent's file.
So it asks SQLite itself, for reading only, and not through `navi.store`, whose libraries take
longer to load than a search may take. A running server is not disturbed: in WAL mode nobody waits
for a reader. A second set of files, written for the memory, would be a second truth to keep.

A session's "file" is the store's path and the session's id. A store in PostgreSQL has no file, and
is not read. Sessions of agents that keep files of their own are left to those agents' sources.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from navi.domain.errors import StoreUnusable
from navi.domain.history import FoundFile, PastMessage, PastSession, PastToolCall, PastUsage
from navi.domain.places import home
from navi.sources.source import Chunk, Reading, Rewritten

FILE = "navi.sqlite3"
ROWS_PER_CHUNK = 500
BUSY_SECONDS = 2.0
SHELL_TOOL = "terminal"

_SESSIONS = """
    SELECT sessions.id, sessions.updated_at, lanes.last_seq
    FROM sessions JOIN lanes ON lanes.session_id = sessions.id
    WHERE lanes.next_idx > 0 AND sessions.driver NOT IN ('claude_code', 'codex', 'tmux')
"""
_SESSION = "SELECT name, model, cwd, parent_id, created_at, updated_at FROM sessions WHERE id = ?"
_MESSAGE_ID = "SELECT id FROM messages WHERE session_id = ? AND idx = ?"
_MESSAGES = """
    SELECT idx, id, role, content, thinking, tool_calls, source, timestamp
    FROM messages WHERE session_id = ? AND idx > ? ORDER BY idx
"""
_TURNS = """
    SELECT id, started_at, ended_at,
        input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens
    FROM turns WHERE session_id = ? AND started_at >= ? ORDER BY started_at
"""


class Call(msgspec.Struct):
    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class ShellArguments(msgspec.Struct):
    command: str | None = None


class Mark(msgspec.Struct):
    version: int = 1
    idx: int = -1
    """The last message that was read."""
    message_id: str | None = None
    turns_from: str = ""
    """Turns that began earlier have ended, and their tokens are counted."""
    bad_lines: int = 0


_calls = msgspec.json.Decoder(list[Call])
_shell_arguments = msgspec.json.Decoder(ShellArguments)


class Navi:
    name = "navi"

    def discover(self) -> Iterator[FoundFile]:
        path = _store_path()
        try:
            status = os.stat(path)
        except OSError:
            return
        try:
            with closing(_opened(path)) as connection:
                rows = connection.execute(_SESSIONS).fetchall()
        except StoreUnusable:
            # Told when it is read, like any other file that can't be.
            yield FoundFile(path, status.st_mtime, status.st_size)
            return
        for session_id, updated_at, last_seq in rows:
            yield FoundFile(f"{path}#{session_id}", _moment(updated_at).timestamp(), last_seq)

    def read(self, file: FoundFile, mark: bytes | None = None) -> Reading:
        return NaviReading(file.path, mark)

    def resume_command(self, source_session_id: str, cwd: str | None) -> list[str] | None:
        # A session of Navi goes on when something is sent to it; there is nothing to start.
        return None


class NaviReading(Reading):
    def __init__(self, path: str, mark: bytes | None) -> None:
        self._path = path
        store, _, self._id = path.rpartition("#")
        if os.sep in self._id:  # the store itself, whose sessions could not be listed
            store, self._id = path, ""
        self._mark = _mark_in(mark, path)
        self._ended = False
        self._connection = _opened(store)
        try:
            # One transaction: session, messages and turns of the same moment.
            self._connection.execute("BEGIN")
            self.session = self._session(path)
            if self._mark.message_id is not None:
                self._check(path)
            self._messages = self._connection.execute(_MESSAGES, (self._id, self._mark.idx))
        except BaseException as error:
            self._end()
            raise _translated(path, error) from error

    @property
    def mark(self) -> bytes:
        return msgspec.json.encode(self._mark)

    def __next__(self) -> Chunk:
        if self._ended:
            raise StopIteration
        chunk = Chunk()
        try:
            for row in self._messages.fetchmany(ROWS_PER_CHUNK):
                self._message(row, chunk)
            if not chunk.messages:
                self._usages(chunk)
                self._end()
        except BaseException as error:
            self._end()
            raise _translated(self._path, error) from error
        if not chunk.messages and not chunk.usages:
            raise StopIteration
        return chunk

    def _end(self) -> None:
        self._ended = True
        self._connection.close()

    def _session(self, path: str) -> PastSession:
        row = self._connection.execute(_SESSION, (self._id,)).fetchone()
        if row is None:
            raise FileNotFoundError(f"there is no session {self._id} in {path}")
        name, model, cwd, parent_id, created_at, updated_at = row
        return PastSession(
            source_session_id=self._id,
            parent_source_session_id=parent_id,
            is_subagent=parent_id is not None,
            title=name or None,
            started_at=_moment(created_at),
            ended_at=_moment(updated_at),
            model=model,
            cwd=cwd,
            bad_lines=self._mark.bad_lines,
        )

    def _check(self, path: str) -> None:
        """A message is taken back with a turn that never began; its place is then used again."""
        asked = (self._id, self._mark.idx)
        row = self._connection.execute(_MESSAGE_ID, asked).fetchone()
        if row is None or row[0] != self._mark.message_id:
            raise Rewritten(path)

    def _message(self, row: tuple[Any, ...], chunk: Chunk) -> None:
        idx, id, role, content, thinking, tool_calls, origin, timestamp = row
        said_at = _moment(timestamp)
        if role == "user" and origin != "user":
            role = "system"
        chunk.messages.append(PastMessage(idx, role, content or None, thinking or None, said_at))
        try:
            calls = _calls.decode(tool_calls)
        except (msgspec.DecodeError, RecursionError):
            self._mark.bad_lines += 1
            self.session.bad_lines = self._mark.bad_lines
            calls = []
        for place, call in enumerate(calls):
            given = str(call.arguments, "utf-8")
            chunk.tool_calls.append(
                PastToolCall(idx, place, call.name, given, _command(call.name, given), said_at)
            )
        self._mark.idx, self._mark.message_id = idx, id

    def _usages(self, chunk: Chunk) -> None:
        turns = self._connection.execute(_TURNS, (self._id, self._mark.turns_from)).fetchall()
        for id, started_at, _, *spent in turns:
            if any(spent):
                model = self.session.model
                chunk.usages.append(PastUsage(id, model, _moment(started_at), *spent))
        running = [started_at for _, started_at, ended_at, *_ in turns if ended_at is None]
        if turns:
            self._mark.turns_from = min([turns[-1][1], *running])


def _store_path() -> str:
    """Where `navi serve` keeps its state, by the same names."""
    url = os.environ.get("NAVI_DATABASE_URL")
    if url:
        return url.removeprefix("sqlite:///") if url.startswith("sqlite:///") else ""
    return str(home() / FILE)


def _opened(path: str) -> Any:
    """A connection that can't write, nor create a file that isn't there."""
    sqlite = _sqlite_module()
    address = Path(path).absolute().as_uri()
    # Without its WAL beside it, and no way to make one, the file itself is all there is.
    modes = ["mode=ro"] if os.path.exists(f"{path}-wal") else ["mode=ro", "mode=ro&immutable=1"]
    failure: Exception | None = None
    for mode in modes:
        try:
            connection = sqlite.connect(
                f"{address}?{mode}", uri=True, timeout=BUSY_SECONDS, isolation_level=None
            )
            connection.execute("SELECT 1 FROM sessions LIMIT 1")
            return connection
        except sqlite.Error as error:
            failure = error
    raise _unusable(path, failure) from failure


def _translated(path: str, error: BaseException) -> BaseException:
    return _unusable(path, error) if isinstance(error, _sqlite_module().Error) else error


def _unusable(path: str, failure: BaseException | None) -> StoreUnusable:
    return StoreUnusable(
        f"can't read Navi's sessions in {path}: {failure}",
        hint="is it Navi's store, and may you read it? `navi serve` says more",
    )


def _sqlite_module() -> ModuleType:
    """The same SQLite as the store's: two of different age should not share a file."""
    try:
        import pysqlite3

        return pysqlite3  # type: ignore[no-any-return]
    except ImportError:
        import sqlite3

        return sqlite3


def _mark_in(mark: bytes | None, path: str) -> Mark:
    if mark is None:
        return Mark()
    try:
        return msgspec.json.decode(mark, type=Mark)
    except msgspec.DecodeError as error:
        raise Rewritten(path) from error


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _command(name: str, given: str) -> str | None:
    if name != SHELL_TOOL:
        return None
    try:
        return _shell_arguments.decode(given).command
    except (msgspec.DecodeError, RecursionError):
        return None
