"""`python -m benchmarks.sm`: measures everything and prints one table."""

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
                with stores(kind, folder / kind) as store:
                    rows += asyncio.run(_measure(store, options))
            if options.agents:
                rows += asyncio.run(agents.measure(3 if options.quick else 10))
        finally:
            print(table(rows))


async def _measure(store: Stores, options: argparse.Namespace) -> list[Row]:
    repeated = 10 if options.quick else 50
    seconds = 5 if options.quick else 30
    rows: list[Row] = []
    with store.server() as server:
        rows += await asyncio.to_thread(commands.measure, server, store.kind, repeated)
        for driver in options.driver or ["scripted"]:
            rows += await deliveries.measure(server, store.kind, driver, repeated)
    for driver in options.driver or ["scripted"]:
        with store.server() as server:
            rows += await idle.measure(server, store.kind, driver, options.sessions, seconds)
    return rows


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sm",
        description="Measure `sm` as a command, deliveries, and live sessions that do nothing.",
    )
    parser.add_argument("--store", choices=[*STORES, "both"], default="sqlite")
    parser.add_argument("--driver", action="append", help="which driver to use; may be repeated")
    parser.add_argument("--agents", action="store_true", help="also real Claude Code and Codex")
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="less of everything")
    return parser.parse_args()


if __name__ == "__main__":
    main()
