"""Signals that a committed transaction sends to all processes sharing the store, its own included.

They only save time: a process that misses one finds the change at its next regular check.
"""

from __future__ import annotations

from sqlalchemy import Connection

from navi.live.store.engine.dialects.dialect import OnSignal, Signal
from navi.live.store.engine.dialects.registry import dialect_for, dialect_of

EVENTS = "navi_events"  # events were stored
STOPS = "navi_stops"  # a running turn was asked to end
WORK = "navi_work"  # an input waits, but its server has no free slot
CLOCK = "navi_clock"  # something was scheduled, and may be the next thing due
ANSWERS = "navi_answers"  # a question was closed, so its turn may continue
ENDS = "navi_ends"  # sessions have ended, so processes close the agents they have open for them
NOTIFICATIONS = "navi_notifications"  # a notification is due
CHANNELS = (EVENTS, STOPS, WORK, CLOCK, ANSWERS, ENDS, NOTIFICATIONS)

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


def wake_server(url: str) -> None:
    """Make the server check its store, because this process has written to it."""
    dialect_for(url).wake_server(url)


async def listen(url: str, own_id: str, on_signal: OnSignal) -> None:
    """Call `on_signal(channel, payload)` for every signal from other processes, until cancelled.

    After a lost connection or a `wake_server`, signals may have been missed, so `on_signal` is
    called once per channel with an empty payload.
    """
    await dialect_for(url).listen(url, CHANNELS, own_id, on_signal)
