"""Kill the server hundreds of times while its sessions receive inputs, then check the store.

    python -m benchmarks.chaos --kills 200 --store both --seed 1

Prints a table and a verdict; ends with 1 if anything was lost, doubled or misnumbered. The short
version of this is tests/acceptance/flows/test_kills.py.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from tests.acceptance.flows.storm import Report, Storm
from tests.postgres import PostgresServer
from tests.server import ServerProcess

STORES = ("sqlite", "postgresql")
SHOWN_VIOLATIONS = 20
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


def judge(wrong: Sequence[str]) -> NoReturn:
    for line in wrong[:SHOWN_VIOLATIONS]:
        print(line)
    print(f"verdict: {len(wrong)} violations" if wrong else "verdict: the promise was kept")
    sys.exit(1 if wrong else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--store", choices=[*STORES, "both"], default="both")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


async def _storm(store: str, options: argparse.Namespace) -> Report:
    def on_kill(kills: int) -> None:
        print(f"\r{store}: {kills} of {options.kills} kills", end="", file=sys.stderr, flush=True)

    with place_of(store) as (home, url), ServerProcess(home, database_url=url) as server:
        storm = Storm(
            server,
            options.seed,
            session_count=options.sessions,
            longest_life_seconds=LONGEST_LIFE_SECONDS,
            on_kill=on_kill,
        )
        report = await storm.run(options.kills)
    print(file=sys.stderr)
    return report


@contextmanager
def place_of(store: str) -> Iterator[tuple[Path, str | None]]:
    with tempfile.TemporaryDirectory(prefix="navi-chaos-") as name:
        if store == "sqlite":
            yield Path(name), None
            return
        postgres = PostgresServer.start(Path(name) / "postgres")
        try:
            yield Path(name), postgres.create_database()
        finally:
            postgres.stop()


def _print_table(columns: Sequence[tuple[str, Report, float]]) -> None:
    rows = {
        "kills": [report.kills for _, report, _ in columns],
        "sessions": [len(report.ledger.sessions) for _, report, _ in columns],
        "inputs confirmed": [sum(s.is_confirmed for s in r.sent) for _, r, _ in columns],
        "requests sent again": [report.resent for _, report, _ in columns],
        "turns": [len(report.ledger.turns) for _, report, _ in columns],
        "… that went well": [_with_outcome(report, "ok") for _, report, _ in columns],
        "… died before speaking": [report.died_empty for _, report, _ in columns],
        "… died while speaking": [report.died_speaking for _, report, _ in columns],
        "events stored": [len(report.ledger.events) for _, report, _ in columns],
        "frames the watcher saw": [len(report.frames) for _, report, _ in columns],
        "seconds": [round(seconds) for _, _, seconds in columns],
        "violations": [len(report.violations) for _, report, _ in columns],
    }
    print_rows([store for store, _, _ in columns], rows)


def print_rows(heads: Sequence[str], rows: Mapping[str, Sequence[int]]) -> None:
    print(f"{'':24}" + "".join(f"{head:>14}" for head in heads))
    for name, numbers in rows.items():
        print(f"{name:24}" + "".join(f"{number:>14,}" for number in numbers))


def _with_outcome(report: Report, outcome: str) -> int:
    return sum(turn.outcome == outcome for turn in report.ledger.turns)


if __name__ == "__main__":
    main()
