"""Navi: memory and a clock for AI agents.

base/         small things that every other package uses
permissions/  what a command line does, and how risky that is
memory/       the memory wing: works without a server
live/         the clock wing: sessions that run under a server
vendors/      one folder per agent program that Navi knows
client/       the typed HTTP client
cli/          the commands `navi`, `recall` and `sm`
web/          the built page
hook.py       what agents run at their hooks: one file that imports nothing of ours
__main__.py   `python -m navi`

The life of an input, station by station:
    1  live/store/input_queue.py          admitted: the only door
    2  live/runtime/turns/admission.py    chosen: its time has come, its session and a slot are free
    3  live/runtime/turns/turn_runner.py  begun: its turn starts
    4  live/agents/                       the driver that produces the turn's events
    5  live/store/transcript.py           what was said, kept
    6  live/runtime/index_follower.py     indexed, by memory/ingest/
    7  memory/read/search.py              found
A person's text comes in through live/api/routes/input_routes.py; what comes due, through
live/store/due/. Events reach watchers through live/runtime/broadcast.py.
"""

__version__ = "0.1.0"
