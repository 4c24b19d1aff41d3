"""SQLite: one server that writes through one connection.

Another process that writes to the database wakes the server by touching a file beside it, the bell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, Engine, Text, create_engine, event
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import NullPool, StaticPool
from sqlalchemy.types import TypeEngine

from navi.base.errors import StoreUnusable
from navi.live.store.engine.dialects.dialect import JSON_CODEC, OnSignal, Signal

BUSY_SECONDS = 2.0
CACHE_KIB = 64 * 1024
"""Enough for a transaction on a thousand sessions in a store with a million of them."""
LONGEST_WRITE_AHEAD_LOG_PAGES = 20_000
"""A commit that makes the log longer than this also checkpoints it. Usually, `settle` has done so
before, in idle time."""
BELL_CHECK_SECONDS = 0.5
BROKEN_FILE = ("readonly", "full", "malformed", "no such")
"""If an error's message has one of these words, trying again can't help."""


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"


def sqlite_path(url: str) -> str:
    """The path exactly as written: the index identifies Navi's sessions by it."""
    return url.removeprefix("sqlite:///")


class SQLite:
    kind = "sqlite"
    title = "SQLite"
    workers = 1
    # Shares the cost of syncing to disk, without keeping the first operation waiting for too long.
    operations_per_commit = 128
    supports_other_servers = False
    instant_type: TypeEngine[Any] = Text()

    def instant_parameter(self, value: datetime | None) -> str | None:
        return _sortable_text(value)

    def open(self, url: str) -> Engine:
        # One connection, so that the store never waits for its own lock.
        engine = create_engine(
            url,
            module=_driver(),
            **JSON_CODEC,
            poolclass=StaticPool,
            connect_args={
                "check_same_thread": False,
                "isolation_level": None,
                "timeout": BUSY_SECONDS,
            },
        )

        @event.listens_for(engine, "connect")
        def set_up(connection: Any, _record: Any) -> None:
            cursor = connection.cursor()
            cursor.execute("PRAGMA journal_mode = WAL")
            # FULL: admitted inputs survive a power cut, not only a crash.
            cursor.execute("PRAGMA synchronous = FULL")
            cursor.execute("PRAGMA foreign_keys = ON")
            cursor.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            cursor.execute(f"PRAGMA wal_autocheckpoint = {LONGEST_WRITE_AHEAD_LOG_PAGES}")
            cursor.close()

        @event.listens_for(engine, "begin")
        def begin(connection: Any) -> None:
            # IMMEDIATE: a transaction that reads before it writes can't fail with a stale snapshot.
            connection.exec_driver_sql("BEGIN IMMEDIATE")

        return engine

    def open_for_reading(self, url: str) -> Engine:
        path, sqlite = sqlite_path(url), _driver()
        file = Path(path).absolute().as_uri()
        # A database without a write-ahead log in a read-only folder opens only as `immutable`.
        modes = ["mode=ro"] if Path(f"{path}-wal").exists() else ["mode=ro", "mode=ro&immutable=1"]

        def connect() -> Any:
            for mode in modes:
                try:
                    connection = sqlite.connect(
                        f"{file}?{mode}", uri=True, timeout=BUSY_SECONDS, isolation_level=None
                    )
                    connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
                    return connection
                except sqlite.OperationalError:
                    if mode == modes[-1]:
                        raise

        engine = create_engine(
            "sqlite://", module=sqlite, creator=connect, poolclass=NullPool, **JSON_CODEC
        )

        @event.listens_for(engine, "begin")
        def begin(connection: Any) -> None:
            connection.exec_driver_sql("BEGIN")

        return engine

    def public_address(self, url: str) -> str:
        return sqlite_path(url)

    def unusable(self, url: str, reason: str) -> StoreUnusable:
        return StoreUnusable(
            f"can't open the database {sqlite_path(url)}: {reason}",
            hint="check that the folder is writable, or set NAVI_HOME to another one",
        )

    def lock_schema(self, connection: Connection) -> None:
        """Nothing to do: every transaction already holds the only lock."""

    def brief_lock_wait(self, connection: Connection) -> AbstractContextManager[None]:
        return nullcontext()

    def change_count(self, connection: Connection) -> int:
        driver: Any = connection.connection.driver_connection
        changes: int = driver.total_changes
        return changes

    def settle(self, engine: Engine) -> None:
        """Checkpoint the write-ahead log."""
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            connection.close()

    def is_transient(self, error: DBAPIError) -> bool:
        is_operational = error.connection_invalidated or isinstance(error, OperationalError)
        return is_operational and not _is_broken_file(error)

    def is_unavailable(self, error: DBAPIError) -> bool:
        return self.is_transient(error) or _is_broken_file(error)

    def notify(self, connection: Connection, sender: str, signals: Sequence[Signal]) -> None:
        """Nothing to do: there is no other server."""

    def wake_server(self, url: str) -> None:
        _bell(url).touch()

    async def listen(
        self, url: str, channels: Sequence[str], own_id: str, on_signal: OnSignal
    ) -> None:
        bell = _bell(url)
        last_rung_at = _rung_at(bell)
        while True:
            await asyncio.sleep(BELL_CHECK_SECONDS)
            if (rung_at := _rung_at(bell)) != last_rung_at:
                last_rung_at = rung_at
                for channel in channels:
                    on_signal(channel, "")


@lru_cache(maxsize=256)  # many rows of a transaction have the same instant
def _sortable_text(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat(timespec="microseconds")


def _driver() -> ModuleType:
    """pysqlite3 if it is installed, because SQLite 3.7 to 3.51.2 has the WAL-reset bug."""
    try:
        import pysqlite3

        return pysqlite3  # type: ignore[no-any-return]
    except ImportError:
        import sqlite3

        return sqlite3


def _is_broken_file(error: DBAPIError) -> bool:
    """Whether the disk is full, or the file is read-only, damaged or missing."""
    reason = str(error.orig).lower()
    return any(word in reason for word in BROKEN_FILE)


def _bell(url: str) -> Path:
    return Path(f"{sqlite_path(url)}-bell")


def _rung_at(bell: Path) -> int:
    try:
        return bell.stat().st_mtime_ns
    except OSError:
        return 0
