"""Shared steps: schedule something, then watch a session until enough has happened."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from tests.server import Client

Frame = dict[str, Any]


LONGEST_WAIT_SECONDS = 30.0
"""Less than the minute after which the clock would look again by itself: it has to be woken."""


async def schedule(
    client: Client, session_id: str, call_type: str, task: str, **fields: Any
) -> dict[str, Any]:
    body = {"call_type": call_type, "additional_context_message": task, **fields}
    path = f"/sessions/{session_id}/recall"
    return dict(await client.call("POST", path, body, expect=201))


async def until(
    client: Client, session_id: str, is_enough: Callable[[list[Frame]], bool]
) -> list[Frame]:
    """All frames of the session from its beginning, up to the first that satisfies the test."""
    frames: list[Frame] = []
    async with asyncio.timeout(LONGEST_WAIT_SECONDS), client.watch(session_id, after=0) as socket:
        while not is_enough(frames):
            frames.append(json.loads(await socket.recv()))
    return frames


def turns_ended(count: int) -> Callable[[list[Frame]], bool]:
    return lambda frames: sum(frame["type"] == "session_sync" for frame in frames) >= count


def saw(type_: str) -> Callable[[list[Frame]], bool]:
    return lambda frames: any(frame["type"] == type_ for frame in frames)


async def add_automation(
    client: Client, session_id: str, name: str, **fields: Any
) -> dict[str, Any]:
    body = {"name": name, "message": "Look at the disks.", **fields}
    path = f"/sessions/{session_id}/automations"
    return dict(await client.call("POST", path, body, expect=201))
