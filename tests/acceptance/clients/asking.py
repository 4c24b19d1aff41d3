"""Scripts with which a real agent asks a person, and what tests look at then."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import httpx2

from tests.acceptance.clients.world import World
from tests.server import Client
from tests.waiting import eventually

ASKING = {"NAVI_CLAUDE_CODE_ARGUMENTS": "--permission-mode=default"}
RUN = "[[bash: echo ran >>count]] [[say: on we go]]"
OPTIONS = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
COLOUR = {"question": "Which colour?", "header": "Colour", "options": OPTIONS, "multiSelect": False}


def choose(*entries: dict[str, Any]) -> str:
    call = f"[[tool: AskUserQuestion | {json.dumps({'questions': entries})}]]"
    return f"{call} [[bash: echo ran >>count]] [[say: on we go]]"


async def open_questions(client: Client, session_id: str, count: int = 1) -> list[dict[str, Any]]:
    """The open questions, oldest first, once there are that many."""
    path = f"/questions?session_id={session_id}&state=open"

    async def look() -> list[dict[str, Any]]:
        questions = await client.call("GET", path)
        return sorted(questions, key=lambda each: each["title"]) if len(questions) >= count else []

    return list(await eventually(look, f"{count} open questions"))


async def answer(client: Client, question: dict[str, Any], decision: str, **fields: Any) -> Any:
    body = {"decision": decision, **fields}
    return await client.call("POST", f"/questions/{question['id']}/answer", body)


async def every_question(client: Client, session_id: str) -> list[dict[str, Any]]:
    return list(await client.call("GET", f"/questions?session_id={session_id}"))


def runs(world: World) -> int:
    """How often the tool has run."""
    file = world.work / "count"
    return len(file.read_text().splitlines()) if file.exists() else 0


async def kill_server_while(world: World, work: Coroutine[Any, Any, Any]) -> None:
    """Kill the server as soon as it has stored the answer, or before."""
    answering = asyncio.create_task(work)
    await asyncio.sleep(0)
    with suppress(httpx2.HTTPError):
        await answering
    world.server.kill()


def has_said(world: World, text: str, output: str = "out") -> bool:
    outputs = (world.home / "navi").rglob(output)
    return any(text in each.read_text() for each in outputs)


def print_seconds(what: str, seconds: float) -> None:
    sys.stderr.write(f"{what}: {seconds * 1000:.0f} ms\n")
