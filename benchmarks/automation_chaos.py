"""Kill servers a hundred times while automations of every kind come due, then check the store.

    python -m benchmarks.automation_chaos --kills 100 --servers 2            # PostgreSQL
    python -m benchmarks.automation_chaos --kills 100 --store sqlite

Prints a table and a verdict; ends with 1 if an occurrence was lost, doubled or not counted, or an
answer not delivered once. The short version of this is
tests/acceptance/flows/test_automation_kills.py.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack

from benchmarks.chaos import STORES, judge, place_of, print_rows
from tests.acceptance.flows.automation_storm import (
    KINDS,
    SETTINGS,
    WITH_SHORT_BEATS,
    AutomationStorm,
    Report,
)
from tests.server import ServerProcess

LONGEST_LIFE_SECONDS = 3.0


def main() -> None:
    options = _options()
    stores = STORES if options.store == "both" else (options.store,)
    columns = []
    for store in stores:
        started = time.monotonic()
        report = asyncio.run(_storm(store, options))
        columns.append((store, report, time.monotonic() - started))
    _print_table(columns)
    judge([f"{store}: {each}" for store, report, _ in columns for each in report.violations])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--servers", type=int, default=2, help="on PostgreSQL; SQLite has one")
    parser.add_argument("--sessions", type=int, default=9, help=f"a third each: {KINDS}")
    parser.add_argument("--store", choices=[*STORES, "both"], default="postgresql")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


async def _storm(store: str, options: argparse.Namespace) -> Report:
    def on_kill(kills: int) -> None:
        print(f"\r{store}: {kills} of {options.kills} kills", end="", file=sys.stderr, flush=True)

    with place_of(store) as (folder, url), ExitStack() as stack:
        servers = [
            stack.enter_context(
                ServerProcess(
                    folder / f"server-{number}",
                    database_url=url,
                    settings=SETTINGS,
                    command=WITH_SHORT_BEATS,
                )
            )
            for number in range(options.servers if url is not None else 1)
        ]
        storm = AutomationStorm(
            servers,
            options.seed,
            sessions_per_kind=max(1, options.sessions // len(KINDS)),
            longest_life_seconds=LONGEST_LIFE_SECONDS,
            on_kill=on_kill,
        )
        report = await storm.run(options.kills)
    print(file=sys.stderr)
    return report


def _print_table(columns: Sequence[tuple[str, Report, float]]) -> None:
    reports = [report for _, report, _ in columns]
    rows = {
        "kills": [report.kills for report in reports],
        "sessions": [len(report.books.ledger.sessions) for report in reports],
        "automations left": [len(report.books.automations) for report in reports],
        "runs": [report.runs("turn_completed", "failed", "cancelled") for report in reports],
        "… completed": [report.runs("turn_completed") for report in reports],
        "… failed": [report.runs("failed") for report in reports],
        "… cancelled": [report.runs("cancelled") for report in reports],
        "counted as missed": [report.missed for report in reports],
        "answers delivered": [report.delivered for report in reports],
        "messages of people": [len(report.sent) for report in reports],
        "requests sent again": [report.resent for report in reports],
        "turns run again": [report.turns_run_again for report in reports],
        "events stored": [len(report.books.ledger.events) for report in reports],
        "seconds": [round(seconds) for _, _, seconds in columns],
        "violations": [len(report.violations) for report in reports],
    }
    print_rows([store for store, _, _ in columns], rows)


if __name__ == "__main__":
    main()
