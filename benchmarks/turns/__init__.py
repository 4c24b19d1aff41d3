"""How fast inputs become turns, and turns become frames on sockets.

__main__.py    the command: `python -m benchmarks.turns`
plan.py        the sizes and durations of a run
figures.py     percentiles, and the table that is printed
stores.py      a fresh home and database for each server
processor.py   a server's processor time and memory
connection.py  a lean HTTP connection, so that the client is not what is measured
footprint.py   start-up time and resident memory
overhead.py    from an input to the end of its turn
admissions.py  inputs admitted per second
streams.py     from the driver to many sockets
watchers.py    processes with many open sockets
metronome.py   `navi serve` with a driver whose deltas say when they were made
peer.py        a bare WebSocket server that sends the same frames, without Navi
floors.py      what the disk, PostgreSQL and pydantic-ai cost without Navi
"""
