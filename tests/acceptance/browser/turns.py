"""Turns that tests wait for."""

from __future__ import annotations

from typing import Any

from tests.server import Client
from tests.waiting import eventually


async def session_after(client: Client, text: str, **fields: Any) -> str:
    """A session whose turn has ended."""
    session_id = await client.session(**fields)
    await client.say(session_id, text)
    await has_ended(client, session_id)
    return session_id


async def has_ended(client: Client, session_id: str) -> None:
    async def is_idle() -> bool:
        session = await client.call("GET", f"/sessions/{session_id}")
        return session["state"] == "idle" and session["last_outcome"] is not None

    await eventually(is_idle, "the turn has ended")
