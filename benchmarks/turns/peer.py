"""A bare WebSocket server that sends the metronome's frames: no store, no turns, no replay.

Shows the least that a fan-out costs in Python on this machine. A message `RATE SECONDS` from any
socket starts the frames for all other sockets.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress

from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed

FRAME = {
    "type": "stream_delta",
    "session_id": "0123456789abcdef",
    "seq": 1000,
    "turn_id": "0123456789abcdef",
    "position": 1000,
    "at": "2026-01-01T00:00:00.000Z",
}


async def main() -> None:
    sockets: set[ServerConnection] = set()

    async def play(rate: float, seconds: float) -> None:
        begun_at = time.monotonic()
        for beat in range(round(rate * seconds)):
            await asyncio.sleep(max(0.0, begun_at + beat / rate - time.monotonic()))
            broadcast(sockets, json.dumps({**FRAME, "delta": f"{time.monotonic_ns()} "}))

    async def on_socket(socket: ServerConnection) -> None:
        sockets.add(socket)
        try:
            with suppress(ConnectionClosed):
                async for message in socket:
                    sockets.discard(socket)
                    await play(*(float(word) for word in str(message).split()))
        finally:
            sockets.discard(socket)

    async with serve(on_socket, "127.0.0.1", 0, compression=None, backlog=1024) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()


if __name__ == "__main__":
    try:
        import uvloop

        uvloop.run(main())
    except ImportError:
        asyncio.run(main())
