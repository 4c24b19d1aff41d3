"""`python -m benchmarks.memory`: measures everything and prints one table."""

from __future__ import annotations

import argparse
import json
import signal
import time
from collections.abc import Callable

from benchmarks.common import end_children, say, say_machine
from benchmarks.memory import commands, hybrid, indexing, rivals, searching
from benchmarks.memory.figures import Row, table
from benchmarks.memory.home import BUILD, home
from benchmarks.memory.stage import Stage, stage

SMALL = 50
LARGE = 2_000
Measure = Callable[[Stage], list[Row]]


def main() -> None:
    arguments = _arguments()
    # Like Ctrl-C: child processes are stopped too, and the figures so far are printed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    say_machine(f"files and index in {BUILD}")
    rounds = arguments.rounds or (1 if arguments.size >= LARGE else 2)
    here = stage(home(arguments.size, arguments.seed), rounds)
    rows: list[Row] = []
    try:
        if not here.database.exists() and "full" not in (arguments.only or PARTS):
            here.recall("index")
        for part in arguments.only or PARTS:
            started_at = time.monotonic()
            rows += PARTS[part](here)
            say(f"{part} measured in {time.monotonic() - started_at:.0f} s")
    finally:
        # Even after an error, no process is left and no figure is lost.
        end_children()
        if arguments.json:
            print(json.dumps([row.as_json() for row in rows], ensure_ascii=False, indent=2))
        else:
            print(table(rows))


def _grown(here: Stage) -> list[Row]:
    small = stage(home(SMALL, here.home.seed), 1)
    if here.home.megabytes == SMALL:
        return indexing.measure_grown(here, here)
    return indexing.measure_grown(here, small)


PARTS: dict[str, Measure] = {
    "full": indexing.measure_full,
    "nothing": indexing.measure_nothing,
    "search": searching.measure,
    "hybrid": hybrid.measure,
    "commands": commands.measure,
    "grown": _grown,
    "peers": rivals.measure,
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.memory",
        description="Measure the index, searches and commands of recall and of its peers.",
    )
    parser.add_argument(
        "--size",
        type=int,
        default=500,
        metavar="MB",
        help="size of the transcripts: 5 to check that it works, 50, 500 (default), 2000, or 3200, "
        "which is more than a million messages",
    )
    parser.add_argument(
        "--only", action="append", choices=PARTS, help="measure only this part; may be repeated"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the transcripts (default: 1)")
    parser.add_argument(
        "--rounds",
        type=int,
        help="how often to build the full index (default: 2, 1 from 2000 MB on)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
