"""Signals that a committed transaction sends to all processes sharing the store, its own included.

They only save time: a process that misses one finds the change at its next regular check.
"""

from __future__ import annotations

from sqlalchemy import Connection

from navi.live.store.engine.dialects.dialect import OnSignal, Signal
from navi.live.store.engine.dialects.registry import dialect_for, dialect_of

EVENTS = "navi_events"
STOPS = "navi_stops"
WORK = "navi_work"
CLOCK = "navi_clock"
ENDS = "navi_ends"
"""Sessions have ended; processes close the agents they have open for them."""
CHANNELS = (EVENTS, STOPS, WORK, CLOCK, ENDS)

_SENT = "navi_signals"


def clear(connection: Connection) -> None:
    """Begin a transaction: forget the signals of the last one."""
    connection.info[_SENT] = {}


def send(connection: Connection, channel: str, payload: str = "") -> None:
    """Signal every process once the transaction has committed."""
    connection.info.setdefault(_SENT, {})[channel, payload] = None


def flush(connection: Connection, sender: str) -> list[Signal]:
    """Pass the signals to the database for other processes; return them for our own."""
    sent: list[Signal] = list(connection.info.get(_SENT, {}))
    if sent:
        dialect_of(connection.dialect).notify(connection, sender, sent)
    return sent


def ring(url: str) -> None:
    """Tell the server that another process has written to its store."""
    dialect_for(url).ring(url)


async def listen(url: str, own_id: str, on_signal: OnSignal) -> None:
    """Call `on_signal(channel, payload)` for every signal from other processes, until cancelled.

    After a lost connection or a `ring`, signals may have been missed, so it is called once per
    channel with an empty payload.
    """
    await dialect_for(url).listen(url, CHANNELS, own_id, on_signal)
