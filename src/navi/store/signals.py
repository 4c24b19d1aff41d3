"""News between processes that share a PostgreSQL.

Signals are part of the transaction that they tell of, so they arrive exactly when it is true.
They only save waiting: whoever misses one finds out a little later by looking.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable

from sqlalchemy import Connection, text

from navi.store.connection import plain

EVENTS = "navi_events"
STOPS = "navi_stops"
WORK = "navi_work"
CLOCK = "navi_clock"
CHANNELS = (EVENTS, STOPS, WORK, CLOCK)

RECONNECT_SECONDS = 1.0

log = logging.getLogger("navi.store")


_SEND = text(
    "SELECT pg_notify(:channel, told) FROM json_array_elements_text(CAST(:payloads AS json)) told"
)


def send(connection: Connection, channel: str, *payloads: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(_SEND, {"channel": channel, "payloads": json.dumps(payloads)})


async def listen(url: str, on_signal: Callable[[str, str], None]) -> None:
    """Call `on_signal(channel, payload)` for every signal, until cancelled.

    After a lost connection it calls `on_signal` once with an empty payload per channel: something
    may have been missed.
    """
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
