"""`python -m benchmarks.turns`: measures everything and prints one table."""

from __future__ import annotations

import argparse
import asyncio
import resource
import signal
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from benchmarks.common import BUILD, STORES, say, say_machine, stores_of, work_folder
from benchmarks.turns import admissions, footprint, overhead, streams
from benchmarks.turns.figures import Row, table
from benchmarks.turns.plan import FULL, QUICK, Plan
from benchmarks.turns.stores import Stores, stores

OPEN_FILES = 4096


def main() -> None:
    arguments = _arguments()
    plan = QUICK if arguments.quick else FULL
    parts = set(arguments.only or PARTS)
    _raise_file_limit()
    # Like Ctrl-C: the servers are stopped too, and the figures so far are printed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    say_machine(f"databases in {arguments.directory}")
    rows: list[Row] = []
    with work_folder(arguments.directory) as folder:
        try:
            for store in stores_of(arguments.store):
                _run(_measure(store, folder / store, plan, parts, rows))
        finally:
            # Even after an error, no figure is lost. Sorted by measurement, so that the
            # stores are next to each other.
            order = list(dict.fromkeys(row.what for row in rows))
            print(table(sorted(rows, key=lambda row: order.index(row.what))))


async def _measure(
    kind: str, directory: Path, plan: Plan, parts: set[str], rows: list[Row]
) -> None:
    with stores(kind, directory) as store:
        for part in PARTS:
            if part in parts:
                started_at = time.monotonic()
                rows += await PARTS[part](plan, store)
                say(f"{kind}: {part} measured in {time.monotonic() - started_at:.0f} s")


async def _inputs(plan: Plan, store: Stores) -> list[Row]:
    with store.server() as server:
        return [
            *await overhead.measure(plan, store, server),
            *await admissions.measure(plan, store, server),
        ]


PARTS = {
    "footprint": footprint.measure,
    "inputs": _inputs,
    "streams": streams.measure,
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.turns",
        description="Measure admissions, turns, streams and memory of a real server.",
    )
    parser.add_argument("--store", choices=[*STORES, "both"], default="both")
    parser.add_argument("--quick", action="store_true", help="less of everything, in half a minute")
    parser.add_argument(
        "--only", action="append", choices=PARTS, help="measure only this part; may be repeated"
    )
    parser.add_argument(
        "--directory",
        type=Path,
        default=BUILD,
        help="where the databases go: its disk is part of what is measured (default: build/)",
    )
    return parser.parse_args()


def _run(main: Coroutine[Any, Any, None]) -> None:
    try:
        import uvloop

        uvloop.run(main)
    except ImportError:
        asyncio.run(main)


def _raise_file_limit() -> None:
    """Raise the limit of open files, which servers and watchers inherit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < OPEN_FILES:
        wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


if __name__ == "__main__":
    main()
