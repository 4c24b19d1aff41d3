"""Send bad requests to a real server: every route, WebSocket frame and MCP call.

    python -m benchmarks.fuzz --requests 100000 --store both --seed 1

Prints the responses by status, and a verdict. Exits with 1 if a response was 500 or more, if the
server logged a traceback, or if another user's data changed. The short version of this is
tests/acceptance/flows/test_fuzz.py.
"""

from __future__ import annotations

import argparse
import asyncio
import time

from benchmarks.common import STORES, empty_store, judge, say, stores_of
from tests.acceptance.flows.fuzz import SETTINGS, Fuzz, Report
from tests.server import ServerProcess


def main() -> None:
    options = _options()
    wrong = []
    for store in stores_of(options.store):
        started = time.monotonic()
        report = asyncio.run(_fuzz(store, options))
        seconds = time.monotonic() - started
        print(f"{store}: {report.count:,} requests in {seconds:.0f} s")
        for status, count in sorted(report.statuses.items(), key=lambda each: -each[1]):
            print(f"  {status:24}{count:9,}")
        print(*report.breaks[:5], sep="\n")
        wrong += [f"{store}: {each}" for each in report.failures]
    judge(wrong)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--store", choices=[*STORES, "both"], default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


async def _fuzz(store: str, options: argparse.Namespace) -> Report:
    def on_progress(count: int) -> None:
        if count % 1_000 == 0:
            say(f"\r{store}: {count} of {options.requests}", end="")

    with empty_store(store) as (home, database_url):
        with ServerProcess(home, database_url=database_url, settings=SETTINGS) as server:
            report = await Fuzz(server, options.seed).run(options.requests, on_progress)
    say("")
    return report


if __name__ == "__main__":
    main()
