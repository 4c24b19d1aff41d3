"""Opening a database by its URL."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool, StaticPool

from navi.base.errors import StoreUnusable

# Every event is encoded on its way into the store: this is ten times quicker than `json`.
_JSON: dict[str, Any] = {
    "json_serializer": lambda value: msgspec.json.encode(value).decode(),
    "json_deserializer": msgspec.json.decode,
}
POSTGRES_CONNECTIONS = 8
SQLITE_BUSY_SECONDS = 2.0
SQLITE_CACHE_KIB = 64 * 1024
"""What a thousand sessions touch in a store of a million: pages that were read a moment ahead, or
written once in a transaction, must not be thrown out before its end."""
SQLITE_MOST_AHEAD_PAGES = 20_000
"""A commit that finds so much in the write-ahead log also moves it into the database. The store
does that much earlier, whenever it has nothing else to do."""
CONNECT_SECONDS = 3
LOCK_MILLISECONDS = 2_000
IDLE_MILLISECONDS = 10_000


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"


def is_sqlite(url: str) -> bool:
    return url.startswith("sqlite:")


def plain(url: str) -> str:
    """The address as PostgreSQL's own tools write it, whichever way it was given."""
    for other in ("postgres://", "postgresql+psycopg://", "postgresql+psycopg2://"):
        if url.startswith(other):
            return "postgresql://" + url.removeprefix(other)
    return url


def open_engine(url: str) -> Engine:
    return _open_sqlite(url) if is_sqlite(url) else _open_postgresql(url)


def open_for_reading(url: str) -> Engine:
    """Cannot write, never waits for a writer, and sees one moment in each transaction."""
    if is_sqlite(url):
        return _open_sqlite_for_reading(sqlite_path(url))
    return create_engine(
        _postgresql_address(url),
        **_JSON,
        poolclass=NullPool,
        isolation_level="REPEATABLE READ",
        connect_args={
            "connect_timeout": CONNECT_SECONDS,
            "application_name": "navi memory",
            "options": "-c default_transaction_read_only=on",
        },
    )


def sqlite_path(url: str) -> str:
    return url.removeprefix("sqlite:///")


def public_address(url: str) -> str:
    """Which store it is, without the name and password that open it."""
    if is_sqlite(url):
        return sqlite_path(url)
    parsed = _postgresql_address(url)
    return f"postgresql://{parsed.host or 'localhost'}:{parsed.port or 5432}/{parsed.database}"


def _open_sqlite(url: str) -> Engine:
    # One connection: the store is its own writer, and never waits for itself.
    engine = create_engine(
        url,
        module=_sqlite_module(),
        **_JSON,
        poolclass=StaticPool,
        connect_args={
            "check_same_thread": False,
            "isolation_level": None,
            "timeout": SQLITE_BUSY_SECONDS,
        },
    )

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        # FULL: what was admitted survives a power cut, not only a crash.
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute(f"PRAGMA cache_size = -{SQLITE_CACHE_KIB}")
        cursor.execute(f"PRAGMA wal_autocheckpoint = {SQLITE_MOST_AHEAD_PAGES}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # IMMEDIATE: a transaction that reads first can't fail later because another one wrote.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def move_ahead_log(engine: Engine) -> None:
    """SQLite: move what was written ahead into the database itself."""
    connection = engine.raw_connection()
    try:
        connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")
    finally:
        connection.close()


def _sqlite_module() -> ModuleType:
    """A SQLite without the WAL-reset bug of 3.7 to 3.51.2, where there is a wheel with one."""
    try:
        import pysqlite3

        return pysqlite3  # type: ignore[no-any-return]
    except ImportError:
        import sqlite3

        return sqlite3


def _open_sqlite_for_reading(path: str) -> Engine:
    sqlite = _sqlite_module()
    file = Path(path).absolute().as_uri()
    # A database without its write-ahead log, in a folder where none can be made, is read as it is.
    modes = ["mode=ro"] if Path(f"{path}-wal").exists() else ["mode=ro", "mode=ro&immutable=1"]

    def connect() -> Any:
        for mode in modes:
            try:
                connection = sqlite.connect(
                    f"{file}?{mode}", uri=True, timeout=SQLITE_BUSY_SECONDS, isolation_level=None
                )
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
                return connection
            except sqlite.OperationalError:
                if mode == modes[-1]:
                    raise

    engine = create_engine("sqlite://", module=sqlite, creator=connect, poolclass=NullPool, **_JSON)

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def _open_postgresql(url: str) -> Engine:
    return create_engine(
        _postgresql_address(url),
        **_JSON,
        pool_size=POSTGRES_CONNECTIONS,
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


def _postgresql_address(url: str) -> URL:
    try:
        parsed = make_url(plain(url))
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
