"""The table of figures, and that of the goals (bars)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks import common
from benchmarks.clock.plan import Plan
from benchmarks.clock.stage import Entry
from benchmarks.common import VERDICTS
from benchmarks.turns.figures import Spread, middle, spread_of

NAVI = "Navi"
MILLION = 1_000_000
HEADS = (
    *("", "store", "pending", "p50 ms", "p99 ms", "claims/s"),
    *(
        "spread p50",
        "spread p99",
        "sleep p99",
        "stolen",
        "idle CPU",
        "database",
        "its p99 / Navi's",
    ),
)
RIGHT = range(2, 13)
RATIOS = (
    ("APScheduler", "sqlite", 8.0),
    ("PgQueuer", "postgresql", 5.0),
    ("APScheduler", "postgresql", 20.0),
)
SPREAD_MS = 10.0
IDLE_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one contestant. Figures are the median of the rounds."""

    name: str
    store: str
    pending: int
    burst: Spread
    per_second: float
    is_complete: bool
    """False after a timeout. Then the real figures are at least as high."""
    doubled: int
    spread: Spread | None
    machine: Spread | None
    """How late a process that only slept was, in the same rounds of the spread."""
    stolen: float | None
    """The processor time that other machines took in those rounds, as a share of one core."""
    idle: float | None
    idle_database: float | None


@dataclass(frozen=True, slots=True)
class Bar:
    what: str
    wanted: str
    value: str
    is_met: bool | None
    """None if it was not measured."""


def result_of(entry: Entry, plan: Plan, measured: dict[str, Any]) -> Result:
    bursts, spreads, idle = measured["bursts"], measured["spreads"], measured["idle"]
    heats = [*bursts, *spreads]
    return Result(
        name=entry.name,
        store=entry.store,
        pending=plan.pending,
        burst=middle([_spread(heat, plan) for heat in bursts]),
        per_second=median(heat["per_second"] for heat in bursts),
        is_complete=not any(heat["missing"] for heat in heats),
        doubled=sum(heat["doubled"] for heat in heats),
        spread=middle([_spread(heat, plan) for heat in spreads]) if spreads else None,
        machine=middle([spread_of(heat["machine_ms"]) for heat in spreads]) if spreads else None,
        stolen=median(heat["stolen"] for heat in spreads) if spreads else None,
        idle=None if idle is None else idle["own"],
        idle_database=None if idle is None else idle["database"],
    )


def bars(results: Sequence[Result]) -> list[Bar]:
    """The goals (bars), at the largest number of pending rows that was measured."""
    most = max((result.pending for result in results), default=0)
    by_name = {(result.name, result.store): result for result in results if result.pending == most}
    made = [_ratio_bar(by_name, peer, store, wanted) for peer, store, wanted in RATIOS]
    for store in ("sqlite", "postgresql"):
        navi = by_name.get((NAVI, store))
        spread = navi.spread.p99 if navi and navi.spread else None
        made.append(
            Bar(
                f"{store}: spread over time, p99",
                f"< {SPREAD_MS:.0f} ms",
                "" if spread is None else f"{spread:.1f} ms",
                None if spread is None else spread < SPREAD_MS,
            )
        )
        idle = navi.idle if navi else None
        made.append(
            Bar(
                f"{store}: idle, share of one core",
                f"< {IDLE_SHARE:.0%}",
                "" if idle is None else f"{idle:.2%}",
                None if idle is None else idle < IDLE_SHARE,
            )
        )
    return made


def table(results: Sequence[Result]) -> str:
    by_name = {(result.name, result.store, result.pending): result for result in results}
    lines = [_cells(each, by_name.get((NAVI, each.store, each.pending))) for each in results]
    return common.table(HEADS, lines, RIGHT)


def bars_table(results: Sequence[Result]) -> str:
    most = max((result.pending for result in results), default=0)
    note = "" if most >= MILLION else f" (the goals are for {MILLION:,})"
    heads = (f"goals at {most:,} pending{note}", "goal", "measured", "")
    lines = [
        (bar.what, bar.wanted, bar.value, VERDICTS[bar.is_met] or "not measured")
        for bar in bars(results)
    ]
    return common.table(heads, lines, (1, 2))


def _spread(heat: dict[str, Any], plan: Plan) -> Spread:
    """A job not admitted in time counts as late as the timeout."""
    return spread_of([*heat["lateness_ms"], *[plan.timeout_seconds * 1000] * heat["missing"]])


def _ratio_bar(by_name: dict[tuple[str, str], Result], peer: str, store: str, wanted: float) -> Bar:
    navi, other = by_name.get((NAVI, store)), by_name.get((peer, store))
    ratio = other.burst.p99 / navi.burst.p99 if navi and other else None
    return Bar(
        f"{store}: p99 lower than {peer}'s",
        f"≥ {wanted:.0f} ×",
        "" if ratio is None else f"{ratio:.2f} ×",
        None if ratio is None else ratio >= wanted,
    )


def _cells(result: Result, navi: Result | None) -> tuple[str, ...]:
    least = "" if result.is_complete else "> "
    ratio = ""
    if navi is not None and navi is not result:
        ratio = f"{least}{result.burst.p99 / navi.burst.p99:.2f} ×"
    doubled = f" ({result.doubled} DOUBLED)" if result.doubled else ""
    return (
        result.name + doubled,
        result.store,
        f"{result.pending:,}",
        f"{least}{result.burst.p50:,.1f}",
        f"{least}{result.burst.p99:,.1f}",
        f"{result.per_second:,.0f}",
        "" if result.spread is None else f"{result.spread.p50:,.1f}",
        "" if result.spread is None else f"{result.spread.p99:,.1f}",
        "" if result.machine is None else f"{result.machine.p99:,.1f}",
        "" if result.stolen is None else f"{result.stolen:.1%}",
        "" if result.idle is None else f"{result.idle:.2%}",
        "" if result.idle_database is None else f"{result.idle_database:.2%}",
        ratio,
    )
