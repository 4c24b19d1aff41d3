"""Navi: memory and a clock for AI agents.

base/         small utilities that every other package uses
permissions/  what a command line does, and how risky that is
memory/       indexes and searches past sessions; needs no server
live/         the server: runs sessions, recalls and automations
vendors/      one folder per agent program that Navi knows
client/       the typed HTTP client
cli/          the commands `navi`, `recall` and `sm`
web/          the built page
hook.py       the program that agents run as a hook; imports nothing else of Navi
__main__.py   `python -m navi`

The life of an input, step by step:
    1  live/store/input_queue.py          admitted: the only way in
    2  live/runtime/turns/admission.py    chosen: its time has come, its session and a slot are free
    3  live/runtime/turns/turn_runner.py  started: its turn begins
    4  live/agents/                       the driver that produces the turn's events
    5  live/store/transcript.py           stored in the transcript
    6  live/runtime/index_follower.py     indexed, by memory/ingest/
    7  memory/read/search.py              found
A person's text enters through live/api/routes/input_routes.py; recalls, automations and reminders
enter through live/store/due/. Events reach watchers through live/runtime/broadcast.py.
"""

__version__ = "0.1.0"
