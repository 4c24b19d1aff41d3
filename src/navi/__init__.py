"""Navi: a memory and a clock for AI agents.

The life of an input, file by file:
    live/api/routes/input_routes.py      takes a person's text from the wire
    store/due/         claims what comes due: recalls, automations, reminders
    live/store/input_queue.py     the only door: makes it durable
    live/runtime/turns/admission.py   decides when its session may take it
    live/runtime/turns/turn_runner.py   runs the turn it causes
    agents/            the driver that produces the turn's events
    store/             keeps sessions, inputs, turns, events and messages
    live/runtime/broadcast.py    sends the stored events to watchers
    live/runtime/index_follower.py, memory/ingest/refresh.py    make its words searchable
    memory/read/search.py    finds them
"""

__version__ = "0.1.0"
