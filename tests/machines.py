"""Several machines: homes with agents' files and an index each, and what lies between them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest

from navi.base.whole_file import replace_file
from navi.memory import database
from navi.memory.hosts import folder_peer, pipe_peer, received
from navi.memory.hosts.stock import Stock, stock
from navi.memory.hosts.sync_request import SyncRequest
from navi.memory.hosts.sync_result import SyncResult
from navi.memory.hosts.this_machine import Host
from navi.memory.index_paths import IndexPaths
from navi.memory.read.session_list import SessionList
from tests.memory_world import World, copy_index

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
SYNC = SyncRequest()
TABLES = {
    "messages": "*",
    "tool_calls": "*",
    "tool_outputs": "*",
    "turns": "*",
    "usages": "*",
    "sessions": "* EXCLUDE (host, source_path, file_mtime, file_size, mark, indexed_at, "
    "texts_pending_from, unknown_kinds)",
}
"""What is the same on every machine, by table."""


@dataclass(slots=True)
class Machine:
    home: Path
    monkeypatch: pytest.MonkeyPatch
    database: Path | None = None

    @property
    def paths(self) -> IndexPaths:
        default = self.home / ".local" / "share" / "recall" / "recall.duckdb"
        return IndexPaths(self.database or default)

    @contextmanager
    def world(self) -> Iterator[World]:
        """This machine's home, while the block runs."""
        with self.monkeypatch.context() as patch:
            patch.setenv("HOME", str(self.home))
            patch.setenv("RECALL_DB_PATH", str(self.paths.database))
            patch.delenv("XDG_DATA_HOME", raising=False)
            yield World(self.home)

    def say(self, session: str, *texts: str, project: str = "shop") -> None:
        """Add lines to a session of Claude Code, and index them."""
        with self.world() as world:
            file = world.file(session, project)
            file.count = len(file.path.read_bytes().splitlines())
            for text in texts:
                file.say(text)
            world.index()

    def index(self, **options: bool) -> None:
        with self.world() as world:
            world.index(**options)

    def stock(self) -> Stock:
        return stock(self.paths, NOW)

    def ids(self) -> list[str]:
        return sorted(each["id"] for each in self.sessions())

    def sessions(self) -> list[dict[str, Any]]:
        return SessionList(self.paths).sessions()

    def hosts(self) -> dict[str, str | None]:
        """The machine of each session, by the agent's id."""
        return {each["source_session_id"]: each["host"] for each in self.sessions()}

    def texts(self, words: str) -> list[str]:
        with self.world() as world:
            return world.texts(words)

    def rows(self, session_ids: list[str]) -> dict[str, list[Any]]:
        """The rows of these sessions."""
        ids = ", ".join(f"'{id}'" for id in session_ids)
        with database.reading(self.paths) as connection:
            return {
                table: connection.execute(
                    f"SELECT {columns} FROM {table} "
                    f"WHERE {'id' if table == 'sessions' else 'session_id'} IN ({ids}) ORDER BY ALL"
                ).fetchall()
                for table, columns in TABLES.items()
            }


def machine(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, prepared: IndexPaths
) -> Machine:
    """A machine with that name, an id that begins with its first letter's code, and an empty index
    that is a copy of `prepared`."""
    created = Machine(folder / name, monkeypatch)
    created.home.mkdir(parents=True)
    copy_index(prepared, created.paths)
    id = f"{ord(name[0]):02x}" * 8
    replace_file(created.paths.hosts / "this-machine.json", msgspec.json.encode(Host(id, name)))
    return created


def sync(one: Machine, other: Machine, request: SyncRequest = SYNC) -> SyncResult:
    """What `recall sync` does through ssh, and the passes after it. Returns the first's result."""
    to_server, to_client = os.pipe(), os.pipe()
    answering = other.stock()

    def answer() -> None:
        with os.fdopen(to_server[0], "rb") as reader, os.fdopen(to_client[1], "wb") as writer:
            pipe_peer.run_server(reader, writer, answering)

    server = Thread(target=answer)
    server.start()
    with os.fdopen(to_client[0], "rb") as reader, os.fdopen(to_server[1], "wb") as writer:
        _, result = pipe_peer.run_client(reader, writer, one.stock(), request)
    server.join()
    one.index()
    other.index()
    return result


def sync_folder(one: Machine, folder: Path, request: SyncRequest = SYNC) -> SyncResult:
    result = folder_peer.sync(folder, one.stock(), request)
    one.index()
    return result


def bundles_of(machine: Machine, host_id: str) -> list[Path]:
    return sorted(received.folder_of(machine.paths, host_id).glob("*.jsonl.gz"))
