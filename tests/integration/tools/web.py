"""A web server with prepared answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class WebServer:
    """Answers a path with the pieces in `answers`, then closes; no pieces mean: never answer."""

    port: int = 0
    answers: dict[str, Iterable[bytes]] = field(default_factory=dict)
    requests: list[Received] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def answer(
        self, path: str, body: bytes = b"", *, status: str = "200 OK", headers: str = ""
    ) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        self.answers[path] = [f"{head}{headers}\r\n".encode(), body]

    def redirect(self, path: str, location: str, status: str = "302 Found") -> None:
        self.answer(path, status=status, headers=f"Location: {location}\r\n")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            request = Received.parse(head)
            request.body = await reader.readexactly(int(request.headers.get("content-length", 0)))
            self.requests.append(request)
            answer = self.answers[request.path]
            if not answer:
                await reader.read()  # until the client gives up
            for piece in answer:
                writer.write(piece)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@dataclass
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""

    @classmethod
    def parse(cls, head: str) -> Received:
        first, *lines = head.rstrip().split("\r\n")
        method, path, _ = first.split(" ")
        pairs = (line.split(": ", 1) for line in lines)
        return cls(method, path, {name.lower(): value for name, value in pairs})
