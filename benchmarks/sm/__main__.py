"""`python -m benchmarks.sm`: measure, and print one table."""

from __future__ import annotations

import argparse
import asyncio

from benchmarks.common import STORES, say_machine, stores_of, work_folder
from benchmarks.sm import agents, commands, deliveries, idle
from benchmarks.turns.figures import Row, table
from benchmarks.turns.stores import Stores, stores


def main() -> None:
    options = _options()
    say_machine()
    rows: list[Row] = []
    with work_folder() as folder:
        try:
            for kind in stores_of(options.store):
                with stores(kind, folder / kind) as these:
                    rows += asyncio.run(_measure(these, options))
            if options.agents:
                rows += asyncio.run(agents.measure(3 if options.quick else 10))
        finally:
            print(table(rows))


async def _measure(these: Stores, options: argparse.Namespace) -> list[Row]:
    repeated = 10 if options.quick else 50
    seconds = 5 if options.quick else 30
    rows: list[Row] = []
    with these.server() as server:
        rows += await asyncio.to_thread(commands.measure, server, these.kind, repeated)
        for driver in options.driver or ["scripted"]:
            rows += await deliveries.measure(server, these.kind, driver, repeated)
    for driver in options.driver or ["scripted"]:
        with these.server() as server:
            rows += await idle.measure(server, these.kind, driver, options.sessions, seconds)
    return rows


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sm",
        description="Measure `sm` as a command, deliveries, and live sessions that do nothing.",
    )
    parser.add_argument("--store", choices=[*STORES, "both"], default="sqlite")
    parser.add_argument("--driver", action="append", help="which drivers; may be given again")
    parser.add_argument("--agents", action="store_true", help="also real Claude Code and Codex")
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="less of everything")
    return parser.parse_args()


if __name__ == "__main__":
    main()
