"""Signals: what a committed transaction tells the processes that share a store, its own included.

They only save waiting. A process that misses one notices a little later, when it looks.
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
"""Sessions were ended: whoever has their agents open lets them go."""
CHANNELS = (EVENTS, STOPS, WORK, CLOCK, ENDS)

_SENT = "navi_signals"


def clear(connection: Connection) -> None:
    """A transaction begins."""
    connection.info[_SENT] = {}


def send(connection: Connection, channel: str, payload: str = "") -> None:
    """Tell every process once the transaction has committed."""
    connection.info.setdefault(_SENT, {})[channel, payload] = None


def flush(connection: Connection, sender: str) -> list[Signal]:
    """Hand the signals to the database, which passes them on; return them for our own process."""
    sent: list[Signal] = list(connection.info.get(_SENT, {}))
    if sent:
        dialect_of(connection.dialect).notify(connection, sender, sent)
    return sent


def ring(url: str) -> None:
    """Tell the server that another process has written to its store."""
    dialect_for(url).ring(url)


async def listen(url: str, own_id: str, on_signal: OnSignal) -> None:
    """Call `on_signal(channel, payload)` for every signal of other processes, until cancelled.

    After a lost connection it calls `on_signal` once with an empty payload per channel: something
    may have been missed. The same after a ring.
    """
    await dialect_for(url).listen(url, CHANNELS, own_id, on_signal)
