"""`python -m benchmarks.clock`: Navi and its peers one after the other, then one table."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.clock.peers import ROOT
from benchmarks.clock.plan import (
    PENDING,
    QUICK_PENDING,
    SMALLEST_PENDING,
    Plan,
    full_plan,
    quick_plan,
    smallest_plan,
)
from benchmarks.clock.report import Result, bars, bars_table, result_of, table
from benchmarks.clock.stage import ENTRIES, Entry, perform
from benchmarks.common import STORES, say, say_machine

PEERS = tuple(dict.fromkeys(entry.name.lower() for entry in ENTRIES if entry.is_peer))
EXPLANATION = (
    "burst: {burst:,} due at the same instant; spread: {spread_per_second} a second, one after "
    "the other.\nLateness counts from the due instant: Navi's to the moment its input is stored "
    "and may be\ndelivered, a peer's to the moment its job, which does nothing, "
    "runs.\nsleep p99: in the same rounds of the spread, how late a process was that only slept "
    "until\neach instant; stolen: the share of one core that other machines of the same host took."
)


def main() -> None:
    arguments = _arguments()
    # Like Ctrl-C: the contestant is stopped too, and the figures so far are printed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    say_machine()
    plans = _plans(arguments)
    results: list[Result] = []
    has_all = False
    try:
        has_all = _measure(arguments, plans, results)
    except KeyboardInterrupt:
        say("interrupted")
    if arguments.json:
        summary = {
            "results": [asdict(result) for result in results],
            "bars": [asdict(bar) for bar in bars(results)],
        }
        print(json.dumps(summary, indent=2))
    else:
        explanation = EXPLANATION.format_map(asdict(plans[0]))
        print(table(results), bars_table(results), explanation, sep="\n\n")
    sys.exit(0 if has_all else 1)


def _plans(arguments: argparse.Namespace) -> list[Plan]:
    if arguments.smallest:
        return [smallest_plan(pending) for pending in arguments.pending or SMALLEST_PENDING]
    if arguments.quick:
        return [quick_plan(pending) for pending in arguments.pending or QUICK_PENDING]
    sizes = arguments.pending or PENDING
    # A fresh idle server is the same with few pending rows.
    return [full_plan(pending, with_idle=pending == max(sizes)) for pending in sizes]


def _measure(arguments: argparse.Namespace, plans: Sequence[Plan], results: list[Result]) -> bool:
    """Add the results, and return whether every contestant has one."""
    has_all = True
    for plan in plans:
        for entry in _entries(arguments.store, arguments.peers):
            started_at = time.monotonic()
            say(f"{entry.name} on {entry.store}, {plan.pending:,} pending")
            try:
                measured = perform(entry, plan, arguments.directory, arguments.under)
            except RuntimeError as error:
                say(f"    no figures: {error}")
                has_all = False
                continue
            results.append(result_of(entry, plan, measured))
            say(f"    measured in {time.monotonic() - started_at:.0f} s")
    return has_all


def _entries(store: str, peers: Sequence[str]) -> list[Entry]:
    return [
        entry
        for entry in ENTRIES
        if store in (entry.store, "both") and (not entry.is_peer or entry.name.lower() in peers)
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.clock",
        description="How late due work fires with many rows pending: Navi and other schedulers.",
    )
    parser.add_argument("--store", choices=[*STORES, "both"], default="both")
    parser.add_argument("--quick", action="store_true", help="few pending rows, one round")
    parser.add_argument(
        "--smallest",
        action="store_true",
        help="only to check that it works: the figures mean nothing",
    )
    parser.add_argument(
        "--pending", type=_numbers, help="how many rows are pending, e.g. 100000,1000000"
    )
    parser.add_argument(
        "--peers", type=_peers, default=PEERS, help=f"some of {','.join(PEERS)}, or none"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--under",
        default="",
        metavar="COMMAND",
        help="run each contestant under a command, such as 'nice' or 'taskset -c 1'",
    )
    parser.add_argument(
        "--directory",
        type=Path,
        default=ROOT / "build",
        help="where the databases go: its disk is part of what is measured (default: build/)",
    )
    return parser.parse_args()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _peers(text: str) -> tuple[str, ...]:
    chosen = () if text == "none" else tuple(text.lower().split(","))
    if unknown := set(chosen) - set(PEERS):
        raise argparse.ArgumentTypeError(f"there is no peer {', '.join(sorted(unknown))}")
    return chosen


if __name__ == "__main__":
    main()
