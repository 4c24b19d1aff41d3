"""Kill servers while agents write to each other, then check that everything arrived once.

    python -m benchmarks.message_chaos --kills 50 --messages 200                  # SQLite
    python -m benchmarks.message_chaos --kills 50 --store postgresql --servers 2

Prints a table and a verdict; ends with 1 if a message, a notice or a reminder was lost or doubled.
The short version of this is tests/acceptance/flows/test_message_kills.py.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from contextlib import ExitStack

from benchmarks.chaos import STORES, judge, place_of, print_rows
from tests.acceptance.flows.message_storm import MessageStorm, Report
from tests.server import ServerProcess


def main() -> None:
    options = _options()
    stores = STORES if options.store == "both" else (options.store,)
    columns = []
    for store in stores:
        started = time.monotonic()
        columns.append((store, asyncio.run(_storm(store, options)), time.monotonic() - started))
    rows = {
        "kills": [report.kills for _, report, _ in columns],
        "requests sent again": [report.resent for _, report, _ in columns],
        "messages": [report.messages for _, report, _ in columns],
        "… that shared a turn": [report.joined for _, report, _ in columns],
        "notices": [report.notices for _, report, _ in columns],
        "reminders": [report.reminders for _, report, _ in columns],
        "seconds": [round(seconds) for _, _, seconds in columns],
        "violations": [len(report.violations) for _, report, _ in columns],
    }
    print_rows([store for store, _, _ in columns], rows)
    judge([f"{store}: {each}" for store, report, _ in columns for each in report.violations])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--driver", action="append", help="of the workers, by turns")
    parser.add_argument("--servers", type=int, default=2, help="on PostgreSQL; SQLite has one")
    parser.add_argument("--store", choices=[*STORES, "both"], default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


async def _storm(store: str, options: argparse.Namespace) -> Report:
    def on_kill(kills: int) -> None:
        print(f"\r{store}: {kills} of {options.kills} kills", end="", file=sys.stderr, flush=True)

    with place_of(store) as (folder, url), ExitStack() as stack:
        servers = [
            stack.enter_context(ServerProcess(folder / f"server-{number}", database_url=url))
            for number in range(options.servers if url is not None else 1)
        ]
        storm = MessageStorm(
            servers,
            options.seed,
            messages=options.messages,
            workers=options.workers,
            drivers=options.driver or ["scripted"],
            on_kill=on_kill,
        )
        report = await storm.run(options.kills)
    print(file=sys.stderr)
    return report


if __name__ == "__main__":
    main()
