"""Reads the bundles that other machines sent, as one more source of sessions.

A bundle is always read from its start, because each new revision of a session replaces it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from navi.memory.index_paths import IndexPaths
from navi.memory.model import (
    Origin,
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
    from collections.abc import Callable
    from datetime import datetime

    from navi.memory.hosts.bundle import Head, Row

RECEIVED = "hosts"
"""The name of this source. The tables never contain it: a received session is stored under its
agent's source."""
ENDING = ".jsonl.gz"
ROWS_PER_CHUNK = 2_000


def with_received(paths: IndexPaths, sources: Iterable[Source]) -> list[Source]:
    """The agents' sources, and the one for sessions that other machines sent."""
    return [*(source for source in sources if source.name != RECEIVED), HostSource(paths)]


class HostSource(Source):
    name = RECEIVED
    has_session_files = False

    def __init__(self, paths: IndexPaths) -> None:
        self._folder = str(paths.received)
        self._paths = paths

    def discover(self) -> Iterator[SessionFile]:
        for folder in _folders_in(self._folder):
            # When a machine's path map changes, all its sessions are read again.
            mapped_at = _modified_at(os.path.join(folder, "host.json"))
            for entry in os.scandir(folder):
                if entry.name.endswith(ENDING) and not entry.name.startswith("."):
                    status = entry.stat()
                    yield SessionFile(entry.path, max(status.st_mtime, mapped_at), status.st_size)

    def read(self, file: SessionFile, mark: bytes | None = None) -> Reading:
        if mark is not None:
            raise Rewritten(file.path)
        return BundleReading(file.path, self._paths)

    def session_id(self, path: str) -> str:
        return os.path.basename(path).removesuffix(ENDING)

    def resume_command(self, source_session_id: str, cwd: str | None) -> list[str] | None:
        return None

    def folders(self) -> list[str]:
        return [self._folder]


class BundleReading(Reading):
    def __init__(self, path: str, paths: IndexPaths) -> None:
        # Imported late: every search creates this source, but few read a bundle.
        from pathlib import Path

        from navi.memory.hosts import bundle
        from navi.memory.hosts.path_map import mapper
        from navi.memory.hosts.received import host_entry

        head = bundle.read_head(Path(path))
        entry = host_entry(paths, head.host.id)
        self._mapped = mapper([] if entry is None else entry.path_map)
        self._rows = bundle.read_rows(Path(path))
        self.session = _session(head, head.host.name if entry is None else entry.name, self._mapped)

    @property
    def mark(self) -> bytes:
        return b"{}"

    def __next__(self) -> Chunk:
        chunk = Chunk(has_excerpts=True)
        count = 0
        for count, row in enumerate(self._rows, 1):
            _add(chunk, row, self._mapped)
            if count == ROWS_PER_CHUNK:
                break
        if not count:
            raise StopIteration
        return chunk

    def close(self) -> None:
        self._rows.close()


def _folders_in(folder: str) -> list[str]:
    try:
        return [entry.path for entry in os.scandir(folder) if entry.is_dir()]
    except FileNotFoundError:
        return []


def _modified_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _session(head: Head, host_name: str, mapped: Callable[[str], str]) -> PastSession:
    return PastSession(
        source_session_id=head.source_session_id,
        parent_source_session_id=head.parent_source_session_id,
        is_subagent=head.is_subagent,
        title=head.title,
        started_at=_moment(head.started_at),
        ended_at=_moment(head.ended_at),
        model=head.model,
        cwd=None if head.cwd is None else mapped(head.cwd),
        git_branch=head.git_branch,
        bad_lines=head.bad_lines,
        origin=Origin(
            host_name, head.source, None if head.git_repo is None else mapped(head.git_repo)
        ),
    )


def _add(chunk: Chunk, row: Row, mapped: Callable[[str], str]) -> None:
    from navi.memory.hosts.bundle import Call, Message, Output, Turn

    at = _moment(row.at)
    if isinstance(row, Message):
        chunk.messages.append(PastMessage(row.idx, row.role, row.content, row.thinking, at))
    elif isinstance(row, Call):
        # Mapped, so that files can be found by their paths on this machine. Messages don't change.
        arguments = None if row.input is None else mapped(row.input)
        command = None if row.command is None else mapped(row.command)
        call = PastToolCall(row.message_idx, row.idx, row.tool, arguments, command, at)
        chunk.tool_calls.append(call)
    elif isinstance(row, Output):
        output = PastOutput(row.message_idx, row.call_idx, row.tool, row.excerpt, at, row.is_error)
        chunk.outputs.append(output)
    elif isinstance(row, Turn):
        chunk.turns.append(PastTurn(row.key, row.origin, row.outcome, row.error, at))
    else:
        tokens = (row.input, row.output, row.cache_read, row.cache_creation)
        chunk.usages.append(PastUsage(row.key, row.model, at, *tokens))


def _moment(count: int | None) -> datetime | None:
    from navi.base.timestamps import from_microseconds

    return None if count is None else from_microseconds(count)
