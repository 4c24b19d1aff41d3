"""Signals: what a committed transaction tells the processes that share a store, its own included.

They only save waiting. A process that misses one finds out a little later by looking. SQLite has
one server; a command that writes beside it rings, by touching a file.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url

from navi.live.store.engine.connection import is_sqlite, plain

EVENTS = "navi_events"
STOPS = "navi_stops"
WORK = "navi_work"
CLOCK = "navi_clock"
ENDS = "navi_ends"
"""Sessions were ended: whoever has their agents open lets them go."""
CHANNELS = (EVENTS, STOPS, WORK, CLOCK, ENDS)

RECONNECT_SECONDS = 1.0
BELL_SECONDS = 0.5

log = logging.getLogger("navi.store")


_SENT = "navi_signals"
_NOTIFY = text(
    "SELECT pg_notify(signal ->> 0, signal ->> 1) "
    "FROM json_array_elements(CAST(:signals AS json)) AS signal"
)

Signal = tuple[str, str]
"""Channel and payload."""


def clear(connection: Connection) -> None:
    """A transaction begins."""
    connection.info[_SENT] = {}


def send(connection: Connection, channel: str, payload: str = "") -> None:
    """Tell every process once the transaction has committed."""
    connection.info.setdefault(_SENT, {})[channel, payload] = None


def flush(connection: Connection, sender: str) -> list[Signal]:
    """Hand the signals to PostgreSQL, which passes them on; return them for our own process."""
    sent: list[Signal] = list(connection.info.get(_SENT, {}))
    if sent and connection.dialect.name == "postgresql":
        signals = [(channel, f"{sender} {payload}") for channel, payload in sent]
        connection.execute(_NOTIFY, {"signals": json.dumps(signals)})
    return sent


def ring(url: str) -> None:
    """Tell the server of an SQLite store that another process has written to it."""
    if is_sqlite(url):
        _bell(url).touch()


async def listen(url: str, own_id: str, on_signal: Callable[[str, str], None]) -> None:
    """Call `on_signal(channel, payload)` for every signal of other processes, until cancelled.

    After a lost connection it calls `on_signal` once with an empty payload per channel: something
    may have been missed. The same after a ring.
    """
    if is_sqlite(url):
        await _listen_for_rings(_bell(url), on_signal)
    else:
        await _listen_to_postgresql(url, own_id, on_signal)


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


async def _listen_to_postgresql(
    url: str, own_id: str, on_signal: Callable[[str, str], None]
) -> None:
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
                        sender, _, payload = notice.extra.decode().partition(" ")
                        if sender != own_id:
                            on_signal(notice.relname.decode(), payload)
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
