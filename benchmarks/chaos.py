"""Kill servers repeatedly while they work, then check that nothing was lost or doubled.

    python -m benchmarks.chaos input --kills 200 --store both
    python -m benchmarks.chaos recall --kills 100 --servers 2
    python -m benchmarks.chaos all --kills 10

Prints a table and a verdict for each kind of work; exits with 1 if a promise was broken. The
short versions of this are tests/acceptance/flows/test_kills.py and
tests/acceptance/clients/test_agent_storm.py.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.common import STORES, empty_store, judge, say, stores_of, table
from tests.acceptance.clients.agent_storm import AgentMessages
from tests.acceptance.clients.model_stand_in import running_stand_in
from tests.acceptance.clients.world import make_world
from tests.acceptance.flows.storm import Storm, Workload
from tests.acceptance.flows.workloads.automations import Automations
from tests.acceptance.flows.workloads.inputs import Inputs
from tests.acceptance.flows.workloads.messages import Messages
from tests.acceptance.flows.workloads.questions import Questions
from tests.acceptance.flows.workloads.recalls import Recalls
from tests.server import ServerProcess

LONGEST_LIFE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of work, its options and their defaults."""

    workload: Callable[..., Workload]
    options: Sequence[str]
    kills: int
    store: str
    servers: int = 2


KINDS = {
    "input": Kind(Inputs, ["sessions"], kills=200, store="both", servers=1),
    "message": Kind(Messages, ["messages", "workers", "drivers"], kills=50, store="sqlite"),
    "recall": Kind(Recalls, ["sessions"], kills=100, store="postgresql"),
    "automation": Kind(Automations, ["sessions"], kills=100, store="postgresql"),
    "questions": Kind(Questions, ["sessions"], kills=100, store="both", servers=1),
    "agent": Kind(AgentMessages, ["messages"], kills=50, store="sqlite", servers=1),
}


def main() -> None:
    options = _options()
    violations = []
    for name in KINDS if options.kind == "all" else [options.kind]:
        stores = stores_of(options.store or KINDS[name].store)
        columns = [asyncio.run(_storm(name, store, options)) for store in stores]
        rows = [(row, *(f"{figures[row]:,}" for figures, _ in columns)) for row in columns[0][0]]
        print(table([name, *stores], rows, range(1, len(stores) + 1)), end="\n\n", flush=True)
        for store, (_, wrong) in zip(stores, columns, strict=True):
            violations += [f"{name}, {store}: {each}" for each in wrong]
    judge(violations)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.chaos", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "kind",
        nargs="?",
        choices=[*KINDS, "all"],
        default="input",
        help="the kind of work (default: input)",
    )
    parser.add_argument("--kills", type=int, help=_defaults("kills"))
    parser.add_argument("--store", choices=[*STORES, "both"], help=_defaults("store"))
    parser.add_argument("--servers", type=int, help=f"on PostgreSQL; {_defaults('servers')}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sessions", type=int, help="for input, recall, automation and questions")
    parser.add_argument("--messages", type=int, help="for message and agent")
    parser.add_argument("--workers", type=int, help="for message: how many sessions receive them")
    parser.add_argument(
        "--driver",
        action="append",
        dest="drivers",
        metavar="DRIVER",
        help="for the workers, in turn; may be repeated",
    )
    return parser.parse_args()


def _defaults(field: str) -> str:
    values = ", ".join(f"{name} {getattr(kind, field)}" for name, kind in KINDS.items())
    return f"default: {values}"


async def _storm(
    name: str, store: str, options: argparse.Namespace
) -> tuple[dict[str, int], list[str]]:
    """The figures and the violations of one storm."""
    kills = KINDS[name].kills if options.kills is None else options.kills
    started_at = time.monotonic()

    def on_kill(count: int) -> None:
        say(f"\r{name}, {store}: {count} of {kills} kills", end="")

    with _stage(name, store, options) as (servers, workload):
        storm = Storm(servers, workload, options.seed, LONGEST_LIFE_SECONDS, on_kill)
        report = await storm.run(kills)
    say("")
    figures = {
        "kills": report.kills,
        "sessions": len(report.ledger.sessions),
        **workload.figures(report),
        "requests sent again": report.resent,
        "turns": len(report.ledger.turns),
        "… that went well": sum(turn.outcome == "ok" for turn in report.ledger.turns),
        "… died before speaking": report.died_empty,
        "… died while speaking": report.died_speaking,
        "events stored": len(report.ledger.events),
        "seconds": round(time.monotonic() - started_at),
        "violations": len(report.violations),
    }
    return figures, report.violations


@contextmanager
def _stage(
    name: str, store: str, options: argparse.Namespace
) -> Iterator[tuple[Sequence[ServerProcess], Workload]]:
    """Servers on an empty store, and the work for them."""
    kind = KINDS[name]
    chosen = {each: getattr(options, each) for each in kind.options}
    chosen = {each: value for each, value in chosen.items() if value is not None}
    with empty_store(store) as (folder, url), ExitStack() as stack:
        if name == "agent":
            world = make_world(folder, stack.enter_context(running_stand_in()))
            stack.callback(world.leave)
            yield [world.serve(database_url=url)], kind.workload(world.work, **chosen)
            return
        workload = kind.workload(**chosen)
        count = (options.servers or kind.servers) if url is not None else 1
        yield (
            [
                stack.enter_context(
                    ServerProcess(
                        folder / f"server-{number}",
                        database_url=url,
                        settings=workload.settings,
                        command=workload.command,
                    )
                )
                for number in range(count)
            ],
            workload,
        )


if __name__ == "__main__":
    main()
