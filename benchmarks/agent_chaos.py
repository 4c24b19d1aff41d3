"""Kill the server fifty times while real agents get messages, then look what arrived.

    python -m benchmarks.agent_chaos --kills 50 --messages 200

Two agents run without a terminal, two in panes of tmux: Claude Code and Codex each, on a stand-in
for their models. Ends with 1 if a message was lost or doubled. `make test` installs the agents; the
short version of this is tests/acceptance/clients/test_agent_storm.py.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.chaos import judge
from tests.acceptance.clients.agent_storm import AgentStorm, Report
from tests.acceptance.clients.model_stand_in import running_stand_in
from tests.acceptance.clients.world import make_world

LONGEST_LIFE_SECONDS = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    report = asyncio.run(_storm(options))
    took = time.monotonic() - started
    print(f"\n{report.messages} messages, {report.kills} kills, {took:.0f} s")
    judge(report.violations)


async def _storm(options: argparse.Namespace) -> Report:
    def on_kill(kills: int) -> None:
        print(f"\r{kills} of {options.kills} kills", end="", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder, running_stand_in() as models:
        world = make_world(Path(folder), models)
        try:
            storm = AgentStorm(world, options.seed, LONGEST_LIFE_SECONDS)
            return await storm.run(options.messages, options.kills, on_kill)
        finally:
            world.leave()


if __name__ == "__main__":
    main()
