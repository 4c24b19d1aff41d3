"""Navi: a memory and a clock for AI agents.

The life of an input, file by file:
    api/inputs.py      takes a person's text from the wire
    store/due/         claims what comes due: recalls, automations, reminders
    store/queue.py     the only door: makes it durable
    runtime/queue.py   decides when its session may take it
    runtime/turns.py   runs the turn it causes
    agents/            the driver that produces the turn's events
    store/             keeps sessions, inputs, turns, events and messages
    runtime/feed.py    sends the stored events to watchers
    runtime/index_follower.py, index/refresh.py    make its words searchable
    index/search.py    finds them
"""

__version__ = "0.1.0"
