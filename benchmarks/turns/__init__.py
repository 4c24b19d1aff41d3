"""How fast inputs become turns, and turns become frames on sockets.

__main__.py    the command: `python -m benchmarks.turns`
plan.py        how much of everything is measured
figures.py     percentiles, and the table that is printed
stores.py      a fresh home and database for each server
processor.py   what a server takes of the machine
connection.py  a lean HTTP connection, so that the client is not what is measured
footprint.py   start-up time and resident memory
overhead.py    from an input to the end of its turn
admissions.py  inputs admitted per second
streams.py     from the driver to many sockets
watchers.py    a process full of sockets
metronome.py   `navi serve` with a driver whose deltas say when they were made
peer.py        a bare WebSocket server that sends the same frames, without Navi
floors.py      what the disk, PostgreSQL and pydantic-ai take by themselves
"""
