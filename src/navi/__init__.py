"""Navi: a memory and a clock for AI agents.

The way of one input, file by file:
    api/inputs.py      takes it from the wire
    runtime/admit.py   makes it durable
    runtime/queue.py   decides when its session may take it
    runtime/turns.py   runs the turn it causes
    agents/            the driver that produces the turn's events
    store/             keeps sessions, inputs, turns, events and messages
    runtime/feed.py    tells the stored events to whoever watches
"""

__version__ = "0.1.0"
