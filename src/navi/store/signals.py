"""News between processes that share a store. They only save waiting: whoever misses one finds
out a little later by looking.

In PostgreSQL a signal is part of the transaction that it tells of, and arrives exactly when that
is true. SQLite has one server; a command that writes beside it rings, by touching a file.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url

from navi.store.connection import is_sqlite, plain

EVENTS = "navi_events"
STOPS = "navi_stops"
WORK = "navi_work"
CLOCK = "navi_clock"
CHANNELS = (EVENTS, STOPS, WORK, CLOCK)

RECONNECT_SECONDS = 1.0
BELL_SECONDS = 0.5

log = logging.getLogger("navi.store")


_SEND = text(
    "SELECT pg_notify(:channel, told) FROM json_array_elements_text(CAST(:payloads AS json)) told"
)


def send(connection: Connection, channel: str, *payloads: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(_SEND, {"channel": channel, "payloads": json.dumps(payloads)})


def ring(url: str) -> None:
    """Tell the server of an SQLite store that another process has written to it."""
    if is_sqlite(url):
        _bell(url).touch()


async def listen(url: str, on_signal: Callable[[str, str], None]) -> None:
    """Call `on_signal(channel, payload)` for every signal, until cancelled.

    After a lost connection it calls `on_signal` once with an empty payload per channel: something
    may have been missed. The same after a ring.
    """
    if is_sqlite(url):
        await _listen_for_rings(_bell(url), on_signal)
    else:
        await _listen_to_postgresql(url, on_signal)


async def _listen_for_rings(bell: Path, on_signal: Callable[[str, str], None]) -> None:
    rung_at = _touched_at(bell)
    while True:
        await asyncio.sleep(BELL_SECONDS)
        if (touched_at := _touched_at(bell)) != rung_at:
            rung_at = touched_at
            for channel in CHANNELS:
                on_signal(channel, "")


def _bell(url: str) -> Path:
    return Path(f"{make_url(url).database}-bell")


def _touched_at(bell: Path) -> int:
    try:
        return bell.stat().st_mtime_ns
    except OSError:
        return 0


async def _listen_to_postgresql(url: str, on_signal: Callable[[str, str], None]) -> None:
    import psycopg

    while True:
        try:
            connection = await psycopg.AsyncConnection.connect(plain(url), autocommit=True)
            async with connection:
                for channel in CHANNELS:
                    await connection.execute(f"LISTEN {channel}")  # names are constants
                for channel in CHANNELS:
                    on_signal(channel, "")
                while True:
                    await _readable(connection.fileno())
                    connection.pgconn.consume_input()
                    while notice := connection.pgconn.notifies():
                        on_signal(notice.relname.decode(), notice.extra.decode())
        except psycopg.Error as error:
            log.warning("lost the signals of the other processes, reconnecting: %s", error)
        await asyncio.sleep(RECONNECT_SECONDS)


async def _readable(descriptor: int) -> None:
    """psycopg's own way to wait for signals looks ten times a second, which adds up when idle."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)
