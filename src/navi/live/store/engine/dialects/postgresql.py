"""PostgreSQL: any number of servers share one database and receive each other's signals."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import URL, Connection, DateTime, Engine, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.pool import NullPool
from sqlalchemy.types import TypeEngine

from navi.base.errors import StoreUnusable
from navi.live.store.engine.dialects.dialect import JSON_CODEC, OnSignal, Signal

CONNECTIONS = 8
CONNECT_SECONDS = 3
LOCK_MILLISECONDS = 2_000
BRIEF_LOCK_MILLISECONDS = 50
SCHEMA_LOCK_MILLISECONDS = 60_000
"""Longer than a migration by another server takes."""
IDLE_MILLISECONDS = 10_000
RECONNECT_SECONDS = 1.0
SCHEMA_LOCK = 0x6E617669
"""An arbitrary number that all Navi processes share."""
TRANSIENT_STATES = {"40001", "40P01", "55P03", "25P03", "57P01", "57P02", "57P03", "53300"}
"""Serialization failure, deadlock, lock timeout, idle transaction ended, server shutting down or
starting, too many clients."""

_NOTIFY = text(
    "SELECT pg_notify(signal ->> 0, signal ->> 1) "
    "FROM json_array_elements(CAST(:signals AS json)) AS signal"
)

log = logging.getLogger("navi.store")


class PostgreSQL:
    kind = "postgresql"
    title = "PostgreSQL"
    workers = CONNECTIONS
    operations_per_commit = 1  # PostgreSQL groups commits by itself
    supports_other_servers = True
    instant_type: TypeEngine[Any] = DateTime(timezone=True)

    def instant_parameter(self, value: datetime | None) -> datetime | None:
        return value

    def open(self, url: str) -> Engine:
        return create_engine(
            _address(url),
            **JSON_CODEC,
            pool_size=CONNECTIONS,
            max_overflow=0,
            connect_args={
                "connect_timeout": CONNECT_SECONDS,
                "application_name": "navi",
                # A server that froze in the middle of a transaction must not hold up the others.
                "options": f"-c lock_timeout={LOCK_MILLISECONDS}"
                f" -c idle_in_transaction_session_timeout={IDLE_MILLISECONDS}",
                "tcp_user_timeout": IDLE_MILLISECONDS,
            },
        )

    def open_for_reading(self, url: str) -> Engine:
        return create_engine(
            _address(url),
            **JSON_CODEC,
            poolclass=NullPool,
            isolation_level="REPEATABLE READ",
            connect_args={
                "connect_timeout": CONNECT_SECONDS,
                "application_name": "navi memory",
                "options": "-c default_transaction_read_only=on",
            },
        )

    def public_address(self, url: str) -> str:
        parsed = _address(url)
        return f"postgresql://{parsed.host or 'localhost'}:{parsed.port or 5432}/{parsed.database}"

    def unusable(self, url: str, reason: str) -> StoreUnusable:
        return StoreUnusable(
            f"can't open the PostgreSQL database: {reason}",
            hint="check NAVI_DATABASE_URL and that PostgreSQL is running",
        )

    def lock_schema(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {SCHEMA_LOCK_MILLISECONDS}")
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": SCHEMA_LOCK})
        connection.exec_driver_sql("SET LOCAL lock_timeout TO DEFAULT")

    @contextmanager
    def brief_lock_wait(self, connection: Connection) -> Iterator[None]:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {BRIEF_LOCK_MILLISECONDS}")
        yield
        connection.exec_driver_sql("SET LOCAL lock_timeout TO DEFAULT")

    def change_count(self, connection: Connection) -> int:
        return 0

    def settle(self, engine: Engine) -> None:
        """Nothing to do: PostgreSQL checkpoints by itself."""

    def is_transient(self, error: DBAPIError) -> bool:
        if error.connection_invalidated:
            return True
        state: str | None = getattr(error.orig, "sqlstate", None)
        if state is None:  # psycopg could not connect
            return isinstance(error, OperationalError)
        return state in TRANSIENT_STATES or state.startswith("08")

    def is_unavailable(self, error: DBAPIError) -> bool:
        return self.is_transient(error)

    def notify(self, connection: Connection, sender: str, signals: Sequence[Signal]) -> None:
        signed = [(channel, f"{sender} {payload}") for channel, payload in signals]
        connection.execute(_NOTIFY, {"signals": json.dumps(signed)})

    def wake_server(self, url: str) -> None:
        """Nothing to do: `notify` has reached every server."""

    async def listen(
        self, url: str, channels: Sequence[str], own_id: str, on_signal: OnSignal
    ) -> None:
        import psycopg

        while True:
            try:
                connection = await psycopg.AsyncConnection.connect(_plain(url), autocommit=True)
                async with connection:
                    for channel in channels:
                        await connection.execute(f"LISTEN {channel}")  # channels are constants
                    for channel in channels:
                        on_signal(channel, "")
                    while True:
                        await _wait_until_readable(connection.fileno())
                        connection.pgconn.consume_input()
                        while notice := connection.pgconn.notifies():
                            sender, _, payload = notice.extra.decode().partition(" ")
                            if sender != own_id:
                                on_signal(notice.relname.decode(), payload)
            except psycopg.Error as error:
                log.warning("lost the connection for signals, reconnecting: %s", error)
            await asyncio.sleep(RECONNECT_SECONDS)


def _address(url: str) -> URL:
    try:
        parsed = make_url(_plain(url))
    except ArgumentError as error:
        raise StoreUnusable(
            "NAVI_DATABASE_URL is not a database address",
            hint="it looks like postgresql://user:password@host:5432/database",
        ) from error
    if parsed.get_backend_name() != "postgresql":
        raise StoreUnusable(
            f"Navi keeps its state in SQLite or PostgreSQL, not in {parsed.get_backend_name()}",
            hint="unset NAVI_DATABASE_URL, or give it a postgresql:// address",
        )
    return parsed.set(drivername="postgresql+psycopg")


def _plain(url: str) -> str:
    """The address as PostgreSQL's own tools write it."""
    for other in ("postgres://", "postgresql+psycopg://", "postgresql+psycopg2://"):
        if url.startswith(other):
            return "postgresql://" + url.removeprefix(other)
    return url


async def _wait_until_readable(descriptor: int) -> None:
    """Wait for a signal. psycopg's own wait polls ten times a second, even when idle."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)
