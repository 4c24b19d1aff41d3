"""A lean HTTP connection.

A full HTTP client takes about a millisecond per request. Twenty of them would keep a core busy that
the server needs.
"""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit


class Connection:
    """One connection that stays open. `async with Connection(address, token) as connection:`"""

    def __init__(self, address: str, token: str) -> None:
        self._netloc = urlsplit(address).netloc
        self._token = token

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        data = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._netloc}\r\n"
            f"Authorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        self._writer.write(head.encode() + data)
        return await self._answer(f"{method} {path}")

    async def session(self, driver: str = "scripted") -> str:
        return str((await self.call("POST", "/sessions", {"driver": driver}))["id"])

    async def say(self, session_id: str, text: str) -> dict[str, Any]:
        return dict(await self.call("POST", f"/sessions/{session_id}/input", {"text": text}))

    async def _answer(self, request: str) -> Any:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status, *headers = head.split("\r\n")
        length = next(
            int(line.split(":")[1]) for line in headers if line.lower().startswith("content-length")
        )
        body = await self._reader.readexactly(length)
        if not status.startswith("HTTP/1.1 2"):
            raise RuntimeError(f"{request}: {status}: {body.decode(errors='replace')}")
        return json.loads(body)

    async def __aenter__(self) -> Connection:
        host, _, port = self._netloc.rpartition(":")
        self._reader, self._writer = await asyncio.open_connection(host, int(port))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()
