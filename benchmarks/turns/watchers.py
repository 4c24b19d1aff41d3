"""Processes with many open sockets.

During a measurement, frames are only stored with their times, and parsed afterwards. So the clients
take little of the machine that they share with the server.

`watching` starts them as `python -m benchmarks.turns.watchers`. Each reads an address from its
standard input, prints `open`, waits for one more line and prints `SocketStats` as JSON.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

SOCKETS_PER_PROCESS = 500
CONNECTING_AT_ONCE = 50
QUIET_SECONDS = 0.4
LONGEST_WAIT_SECONDS = 15.0
HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    # As every browser requests.
    "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
    "Authorization: Bearer {token}\r\n\r\n"
)
TEXT = 1


@dataclass(slots=True)
class SocketStats:
    """What the sockets of one process received."""

    latencies: list[int] = field(default_factory=list)
    """Nanoseconds, one for each delta on each socket."""
    frames: int = 0
    first_at: int = 0
    last_at: int = 0
    fewest: int = 0
    """The number of deltas on the socket that received the fewest."""
    is_compressed: bool = False


class Watchers:
    """One of the processes, as seen by its parent."""

    def __init__(self, url: str, token: str, sockets: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.turns.watchers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        self._write([url, token, sockets])

    async def wait_until_open(self) -> None:
        if await self._line() != "open\n":
            raise RuntimeError("the sockets could not be opened")

    def finish(self) -> None:
        self._write("finish")

    async def stats(self) -> SocketStats:
        return SocketStats(**json.loads(await self._line()))

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _write(self, value: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value) + "\n")
        self._process.stdin.flush()

    async def _line(self) -> str:
        assert self._process.stdout is not None
        return await asyncio.to_thread(self._process.stdout.readline)


@contextmanager
def watching(url: str, token: str, sockets: int) -> Iterator[list[Watchers]]:
    processes: list[Watchers] = []
    try:
        for start in range(0, sockets, SOCKETS_PER_PROCESS):
            processes.append(Watchers(url, token, min(SOCKETS_PER_PROCESS, sockets - start)))
        yield processes
    finally:
        for process in processes:
            process.end()


# The rest runs inside the process.


async def _watch(url: str, token: str, count: int) -> None:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 80
    request = HANDSHAKE.format(path=parts.path, host=parts.netloc, token=token).encode()
    loop = asyncio.get_running_loop()
    room = asyncio.Semaphore(CONNECTING_AT_ONCE)

    async def connect() -> _Socket:
        async with room:
            _, socket = await loop.create_connection(lambda: _Socket(request), host, port)
            await socket.opened
            return socket

    sockets = await asyncio.gather(*(connect() for _ in range(count)))
    # The server may still be catching up for the sockets it has just accepted.
    await asyncio.sleep(QUIET_SECONDS)
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await _until_quiet(sockets)
    print(json.dumps(asdict(_stats_of(sockets))), flush=True)


class _Socket(asyncio.Protocol):
    def __init__(self, request: bytes) -> None:
        self._request = request
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.head = b""
        self.times: list[int] = []
        self.chunks: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not subclasses of asyncio's.
        cast(asyncio.Transport, transport).write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(exc or ConnectionError("the server closed the socket"))

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        if not self.opened.done():
            self.head, end, data = (self.head + data).partition(b"\r\n\r\n")
            if not end:
                return
            if not self.head.startswith(b"HTTP/1.1 101"):
                self.opened.set_exception(RuntimeError(self.head.decode(errors="replace")))
                return
            self.opened.set_result(None)
        if data:
            self.times.append(now)
            self.chunks.append(data)

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """When the end of each text frame arrived, and its text."""
        data = b"".join(self.chunks)
        ends = list(accumulate(len(chunk) for chunk in self.chunks))
        inflate = zlib.decompressobj(-15)
        position = 0
        while position + 2 <= len(data):
            first, length, start = data[position], data[position + 1], position + 2
            if length >= 126:
                size = 2 if length == 126 else 8
                length = int.from_bytes(data[start : start + size], "big")
                start += size
            position = start + length
            if position > len(data):
                return
            if first & 0x0F != TEXT:
                continue
            payload = data[start:position]
            if first & 0x40:
                payload = inflate.decompress(payload + b"\x00\x00\xff\xff")
            yield self.times[bisect_left(ends, position)], payload


async def _until_quiet(sockets: Sequence[_Socket]) -> None:
    give_up_at = time.monotonic() + LONGEST_WAIT_SECONDS
    while time.monotonic() < give_up_at:
        last_at = max((socket.times[-1] for socket in sockets if socket.times), default=0)
        if time.monotonic_ns() - last_at > QUIET_SECONDS * 1e9:
            return
        await asyncio.sleep(QUIET_SECONDS / 4)


def _stats_of(sockets: Sequence[_Socket]) -> SocketStats:
    stats = SocketStats(is_compressed=b"permessage-deflate" in sockets[0].head)
    counts = []
    times: list[int] = []
    for socket in sockets:
        before = len(stats.latencies)
        for arrived_at, payload in socket.frames():
            frame = json.loads(payload)
            if frame["type"] == "stream_delta":
                times.append(arrived_at)
                made_at = (int(word) for word in frame["delta"].split())
                stats.latencies += [arrived_at - moment for moment in made_at]
        counts.append(len(stats.latencies) - before)
    stats.frames = len(times)
    stats.first_at, stats.last_at = min(times, default=0), max(times, default=0)
    stats.fewest = min(counts)
    return stats


def main() -> None:
    url, token, sockets = json.loads(sys.stdin.readline())
    try:
        import uvloop

        uvloop.run(_watch(url, token, sockets))
    except ImportError:
        asyncio.run(_watch(url, token, sockets))


if __name__ == "__main__":
    main()
