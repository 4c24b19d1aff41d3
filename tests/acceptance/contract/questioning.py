"""Sessions whose agents ask a person."""

from __future__ import annotations

from typing import Any

from tests.acceptance.contract.conftest import receive_until
from tests.server import Client

NEED = '[[need: terminal | {"command": "rm -r build"}]] [[say: done with it]]'
"""The agent wants to call a tool, and waits in the middle of its turn."""
ASK = "[[ask: Which database? | SQLite | PostgreSQL]] [[say: good choice]]"
"""The agent asks and ends its turn."""


async def asking(client: Client, text: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """A session whose agent asks that, and its open question."""
    session_id = await client.session(**fields)
    async with client.watch(session_id) as socket:
        await client.say(session_id, text)
        question = (await receive_until(socket, "question_update"))[-1]["question"]
        # A question that ends its turn is waited for once the turn has ended.
        last = "session_sync" if question["outlives_turn"] else "session_update"
        await receive_until(socket, last)
    return session_id, question
