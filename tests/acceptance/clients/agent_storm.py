"""Messages to real agents while their server is killed again and again."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2

from navi.domain.ids import new_id
from tests.acceptance.clients.world import World

KINDS = (
    {"driver": "claude_code"},
    {"driver": "codex"},
    {"driver": "tmux", "model": "claude_code"},
    {"driver": "tmux", "model": "codex"},
)
"""Two agents without a terminal, and two in panes."""
RETRIED = (httpx2.TransportError, AssertionError)


@dataclass(frozen=True)
class Report:
    messages: int
    kills: int
    violations: list[str]


class AgentStorm:
    """Every message makes its agent write its number down; each number must be there once."""

    def __init__(self, world: World, seed: int, longest_life_seconds: float) -> None:
        self._world = world
        self._random = random.Random(seed)
        self._longest_life = longest_life_seconds
        self._sessions: list[str] = []
        self._log = world.work / "log"

    async def run(
        self, messages: int, kills: int, on_kill: Callable[[int], None] = lambda kills: None
    ) -> Report:
        self._world.serve()
        for kind in KINDS:
            made = await self._call("POST", "/sessions", {**kind, "cwd": str(self._world.work)})
            self._sessions.append(made["id"])
        sending = asyncio.create_task(self._send(messages))
        for number in range(1, kills + 1):
            await asyncio.sleep(self._random.uniform(0.2, self._longest_life))
            self._world.server.kill()
            await asyncio.to_thread(self._world.server.start)
            on_kill(number)
        await sending
        for session_id in self._sessions:
            await self._is_quiet(session_id)
        return Report(messages, kills, self._violations(messages))

    async def _send(self, messages: int) -> None:
        for number in range(messages):
            session_id = self._sessions[number % len(self._sessions)]
            # Sent again with the same id until it was accepted: that must not double it.
            body = {"text": f"[[bash: echo {number} >>{self._log}]] [[say: {number}]]"}
            body["input_id"] = new_id()
            await self._call("POST", f"/sessions/{session_id}/input", body)
            await asyncio.sleep(self._random.uniform(0, 0.3))

    async def _is_quiet(self, session_id: str) -> None:
        while True:
            # In this order: what had left the queue before is part of the state read after.
            waiting = await self._call("GET", f"/sessions/{session_id}/queue")
            session = await self._call("GET", f"/sessions/{session_id}")
            if session["state"] == "idle" and not waiting:
                return
            await asyncio.sleep(0.1)

    async def _call(self, method: str, path: str, body: Any = None) -> Any:
        """Until it is answered: the server is killed all the time."""
        while True:
            try:
                async with self._world.client() as client:
                    answered = await client.http.request(method, path, json=body)
                if answered.status_code < 300:
                    return answered.json()
                if answered.status_code < 500:
                    raise ValueError(f"{method} {path}: {answered.text}")
            except RETRIED:
                pass
            await asyncio.sleep(0.1)

    def _violations(self, messages: int) -> list[str]:
        written = self._log.read_text().split() if self._log.exists() else []
        counts = Counter(written)
        return [
            f"message {number} to {KINDS[number % len(KINDS)]} arrived {counts[str(number)]} times"
            for number in range(messages)
            if counts[str(number)] != 1
        ]
