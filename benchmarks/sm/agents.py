"""From sending a message to a real agent to the request to its model.

This includes every step: the message is admitted and delivered, the client starts or its text is
typed, and the prompt is built. A local stand-in for the models records the time of the request.
`make test` installs the agents.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.turns.figures import Row, spread_of
from tests.acceptance.clients.agent_storm import KINDS
from tests.acceptance.clients.model_stand_in import running_stand_in
from tests.acceptance.clients.world import World, make_world
from tests.acceptance.contract.conftest import finished
from tests.server import Client

TIMEOUT_SECONDS = 120


async def measure(repeated: int) -> list[Row]:
    rows = []
    with tempfile.TemporaryDirectory() as folder, running_stand_in() as models:
        world = make_world(Path(folder), models)
        try:
            world.serve()
            async with world.client() as client:
                for kind in KINDS:
                    name = " ".join(kind.values())
                    first, later = await _deliveries(world, client, kind, name, repeated)
                    what = f"{name}: message to the model's first request"
                    rows.append(Row(f"{what}, new session", "sqlite", spread=spread_of([first])))
                    rows.append(Row(what, "sqlite", spread=spread_of(later)))
        finally:
            world.leave()
    return rows


async def _deliveries(
    world: World, client: Client, kind: dict[str, str], name: str, repeated: int
) -> tuple[float, list[float]]:
    session_id = await client.session(**kind, cwd=str(world.work))
    taken = []
    for number in range(repeated + 1):
        gate = f"{name} {number}"
        # The gate is open: it only records when the request arrived.
        world.models.gates[gate].set()
        started_at = time.perf_counter()
        await client.say(session_id, f"[[wait: {gate}]] [[say: x]]")
        await asyncio.to_thread(world.models.reached[gate].wait, TIMEOUT_SECONDS)
        taken.append((time.perf_counter() - started_at) * 1000)
        await finished(client, session_id, turns=number + 1)
    await client.call("POST", f"/sessions/{session_id}/kill")
    return taken[0], taken[1:]
