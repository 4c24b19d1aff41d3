"""The cost of live sessions that do nothing. Each has had a turn, a status and a reminder."""

from __future__ import annotations

import asyncio

from benchmarks.turns.figures import Row
from benchmarks.turns.processor import Stopwatch, resident_mb
from tests.server import Client, ServerProcess


async def measure(
    server: ServerProcess, store: str, driver: str, sessions: int, seconds: float
) -> list[Row]:
    before = resident_mb(server)
    async with server.client() as client:
        for _ in range(sessions):
            await _live(client, driver)
    await asyncio.sleep(1)
    stopwatch = Stopwatch(server.process.pid)
    await asyncio.sleep(seconds)
    share = 100 * stopwatch.seconds() / seconds
    after = resident_mb(server)
    what = f"{driver}: {sessions} live sessions, idle"
    return [
        Row(f"{what}: memory", store, f"{after:.0f} MB", beside=f"{before:.0f} MB before"),
        Row(f"{what}: processor", store, f"{share:.2f} %", beside="of one core"),
    ]


async def _live(client: Client, driver: str) -> None:
    session_id = await client.session(driver=driver)
    sent = await client.say(session_id, "[[say: ready]]")
    await client.call("GET", f"/sessions/{session_id}/input/{sent['input_id']}?wait=25")
    await client.call("POST", f"/sessions/{session_id}/agent-status", {"text": "ready"})
    body = {"soft_threshold": 3600}
    await client.call("POST", f"/sessions/{session_id}/remind", body)
