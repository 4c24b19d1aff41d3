"""From sending a message to the turn that it begins, measured on a watching socket."""

from __future__ import annotations

import json
import time

from websockets.asyncio.client import ClientConnection

from benchmarks.turns.figures import Row, spread_of
from tests.server import Client, ServerProcess

LONG = "[[sleep: 600]]"


async def measure(server: ServerProcess, store: str, driver: str, repeated: int) -> list[Row]:
    """`driver` must play scripts, or use a model that does."""
    async with server.client() as client:
        # The first turn loads the agent's libraries.
        await _to_idle(client, driver, 1)
        idle = await _to_idle(client, driver, repeated)
        urgent = await _interrupting(client, driver, repeated)
        joined = await _joined(client, driver, repeated)
    timings = {
        "message to an idle session, to delivery": idle,
        "urgent message to a busy one, to delivery": urgent,
        "20 waiting messages, stop to joint delivery": joined,
    }
    return [
        Row(f"{driver}: {what}", store, spread=spread_of(taken)) for what, taken in timings.items()
    ]


async def _to_idle(client: Client, driver: str, repeated: int) -> list[float]:
    session_id = await client.session(driver=driver)
    taken = []
    async with client.watch(session_id, after=0) as socket:
        for number in range(repeated):
            started_at = time.perf_counter()
            await client.say(session_id, "[[say: x]]", input_id=f"{session_id}-{number}")
            await _until(socket, "input_delivered", f"{session_id}-{number}")
            taken.append((time.perf_counter() - started_at) * 1000)
            await _until(socket, "session_sync")
    return taken


async def _interrupting(client: Client, driver: str, repeated: int) -> list[float]:
    session_id = await client.session(driver=driver)
    taken = []
    async with client.watch(session_id, after=0) as socket:
        await client.say(session_id, LONG)
        await _until(socket, "stream_start")
        for number in range(repeated):
            input_id = f"{session_id}-{number}"
            started_at = time.perf_counter()
            await client.say(session_id, LONG, delivery_mode="urgent", input_id=input_id)
            await _until(socket, "input_delivered", input_id)
            taken.append((time.perf_counter() - started_at) * 1000)
            await _until(socket, "stream_start")
    await client.call("POST", f"/sessions/{session_id}/kill")
    return taken


async def _joined(client: Client, driver: str, repeated: int) -> list[float]:
    sender = await client.session()
    session_id = await client.session(driver=driver)
    taken = []
    async with client.watch(session_id, after=0) as socket:
        for number in range(repeated):
            await client.say(session_id, LONG)
            await _until(socket, "stream_start")
            for position in range(20):
                input_id = f"{session_id}-{number}-{position}"
                await client.say(session_id, "x", sender_session_id=sender, input_id=input_id)
            started_at = time.perf_counter()
            await client.call("POST", f"/sessions/{session_id}/stop")
            await _until(socket, "input_delivered", f"{session_id}-{number}-19")
            taken.append((time.perf_counter() - started_at) * 1000)
            await _until(socket, "session_sync")
    return taken


async def _until(socket: ClientConnection, type_: str, input_id: str | None = None) -> None:
    while True:
        frame = json.loads(await socket.recv())
        if frame["type"] == type_ and input_id in (None, frame.get("input", {}).get("id")):
            return
