"""Short scenarios whose events are recorded in events/, for tests of code that reads events.

`python -m tests.acceptance.contract.scenarios` records them again from a real server.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.acceptance.contract.conftest import receive_until
from tests.server import Client, ServerProcess

EVENTS = Path(__file__).parent / "events"
DELTAS = ("stream_delta", "thinking_delta")

Scenario = Callable[[Client, str], Awaitable[None]]


async def turn(client: Client, session_id: str) -> None:
    """Thinking, two tools one after the other, and text before and after them."""
    await _play(
        client,
        session_id,
        "[[think: look first]] [[say: I will look.]] [[bash: echo one]] [[bash: echo two]] "
        "[[think: both are there]] [[say: **Done.**\n\n- one\n- two]]",
    )


async def failures(client: Client, session_id: str) -> None:
    await _play(client, session_id, "[[say: I try]] [[fail: the model is gone]]")
    await _play(client, session_id, "[[fail: at once]]")
    await _play(client, session_id, "[[bash: echo quiet]]")


async def queue(client: Client, session_id: str) -> None:
    """Inputs that wait: edited, moved to the front, removed; and a turn that is stopped."""
    async with client.watch(session_id) as socket:
        await client.say(session_id, "[[say: begun]] [[sleep: 600]]", input_id="scenario-1")
        await receive_until(socket, "stream_delta")
        for number in (2, 3, 4):
            await client.say(session_id, f"[[say: {number}]]", input_id=f"scenario-{number}")
        path = f"/sessions/{session_id}/queue"
        await client.call("PATCH", f"{path}/scenario-2", {"text": "[[say: 2 in other words]]"})
        await client.call("PATCH", f"{path}/scenario-3", {"delivery_mode": "important"})
        await client.call("DELETE", f"{path}/scenario-4")
        await client.call("POST", f"/sessions/{session_id}/stop")
        for _ in range(3):
            await receive_until(socket, "session_sync")


async def recall(client: Client, session_id: str) -> None:
    async with client.watch(session_id) as socket:
        body = {"call_type": "once", "additional_context_message": "[[say: I am awake]]"}
        path = f"/sessions/{session_id}/recall"
        await client.call("POST", path, {**body, "when": "1h"}, expect=201)
        await client.call("DELETE", path)
        await client.call("POST", path, {**body, "when": "now"}, expect=201)
        await receive_until(socket, "session_sync")


async def message(client: Client, session_id: str) -> None:
    sender = await client.session(name="sender")
    await _play(client, session_id, "[[say: I heard you]]", sender_session_id=sender)


async def question(client: Client, session_id: str) -> None:
    """A permission in the middle of a turn, and a question that ends one and starts the next."""
    async with client.watch(session_id) as socket:
        await client.say(
            session_id,
            '[[say: I will try.]] [[need: terminal | {"command": "echo hi"}]] '
            "[[ask: Which one? | A | B]] [[say: thanks]]",
        )
        for answer in ({"decision": "allow"}, {"decision": "choose", "choices": ["B"]}):
            question = (await receive_until(socket, "question_update"))[-1]["question"]
            if question["outlives_turn"]:
                await receive_until(socket, "session_sync")
            await client.call("POST", f"/questions/{question['id']}/answer", answer)
            await receive_until(socket, "question_update")
        await receive_until(socket, "session_sync")


SCENARIOS: dict[str, Scenario] = {
    scenario.__name__: scenario for scenario in (turn, failures, queue, recall, message, question)
}


async def played(client: Client, name: str) -> dict[str, Any]:
    """All events of the scenario, and the session at the end."""
    session_id = await client.session(name=name)
    await SCENARIOS[name](client, session_id)
    snapshot = await client.call("GET", f"/sessions/{session_id}/snapshot?limit=1000")
    events: list[dict[str, Any]] = []
    async with client.watch(session_id, after=0) as socket:
        while not events or events[-1]["seq"] < snapshot["after"]:
            events.append(json.loads(await socket.recv()))
    return {"events": events, "snapshot": snapshot}


def outline(events: list[dict[str, Any]]) -> list[list[str]]:
    """The events and their fields. Deltas may be split anywhere, so neighbours are joined.

    Recall updates come independently of turns, so their position among the events may differ.
    """
    ordered = sorted(events, key=lambda event: event["type"] == "recall_update")
    shapes = [[event["type"], *sorted(set(event) - {"type"})] for event in ordered]
    return [
        shape
        for shape, run in groupby(shapes)
        for _ in (run if shape[0] not in DELTAS else [shape])
    ]


async def _play(client: Client, session_id: str, text: str, **fields: Any) -> None:
    async with client.watch(session_id) as socket:
        await client.say(session_id, text, **fields)
        await receive_until(socket, "session_sync")


async def _record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with ServerProcess(Path(folder), settings={"NAVI_MODEL": "scripted"}) as server:
            async with server.client() as client:
                for name in SCENARIOS:
                    recording = json.dumps(await played(client, name), indent=1, ensure_ascii=False)
                    (EVENTS / f"{name}.json").write_text(
                        recording.replace(folder, "/srv/navi-example") + "\n"
                    )


if __name__ == "__main__":
    asyncio.run(_record())
