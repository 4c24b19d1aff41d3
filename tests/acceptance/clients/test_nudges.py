"""The real Claude Code is nudged while it works, by its hook."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import Any

import pytest

from navi.live.model.scheduling.reminder import SOFT_TEXT
from tests.acceptance.clients.conftest import World, outcomes, text_of
from tests.acceptance.clients.terminal import Terminal, adopted
from tests.acceptance.contract.conftest import finished, receive_until
from tests.server import Client
from tests.waiting import eventually

# Several calls: if a loaded machine delays one hook, the next one delivers the nudge.
SCRIPT = (
    "[[bash: until test -e go; do sleep 0.1; done]] "
    + "[[bash: echo again]] " * 5
    + "[[say: the task is done]]"
)

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.mark.proof
@pytest.mark.parametrize("place", ["headless", pytest.param("tmux", marks=needs_tmux)])
async def test_a_soft_nudge_reaches_claude_code_between_two_tool_calls(
    world: World, client: Client, place: str
) -> None:
    world.models.requests.clear()
    driver, model = ("tmux", "claude_code") if place == "tmux" else ("claude_code", None)
    session_id = await world.session(client, driver, model=model)
    await client.say(session_id, SCRIPT, remind_soft_threshold=1)
    await until_nudge_waits(client, session_id)
    await until_tool_runs(client, session_id)

    (world.work / "go").touch()

    frames = await finished(client, session_id)
    assert outcomes(frames) == ["ok"]
    assert text_of(frames).strip().endswith("the task is done")
    messages = await client.messages(session_id)
    assert [each["content"] for each in messages if each["role"] == "user"] == [SCRIPT, SOFT_TEXT]
    assert messages[1]["metadata"]["tool_call_id"] in tool_calls(frames)
    assert was_read(world)


@pytest.mark.proof
@needs_tmux
async def test_a_soft_nudge_reaches_a_person_s_own_session_at_work(
    world: World, client: Client
) -> None:
    world.models.requests.clear()
    await asyncio.to_thread(world.set_up, "claude_code")
    terminal = Terminal(world, "claude_code", "--allowedTools=Bash")
    await terminal.shows("❯")
    await terminal.says("[[bash: until test -e go; do sleep 0.1; done]] [[bash: ls]] [[say: yes]]")
    session = await adopted(client, driver="claude_code", state="running")
    await client.call("POST", f"/sessions/{session['id']}/remind", {"soft_threshold": 1})
    await until_nudge_waits(client, session["id"])

    (world.work / "go").touch()

    messages = await eventually(lambda: client.messages(session["id"]), "the nudge was read")
    assert [each["content"] for each in messages] == [SOFT_TEXT]
    await adopted(client, state="idle")
    assert was_read(world)


async def until_nudge_waits(client: Client, session_id: str) -> None:
    async def waits() -> bool:
        queue = await client.call("GET", f"/sessions/{session_id}/queue")
        return SOFT_TEXT in [each["text"] for each in queue]

    await eventually(waits, "the nudge waits")


async def until_tool_runs(client: Client, session_id: str) -> None:
    async with client.watch(session_id, after=0) as socket:
        await receive_until(socket, "tool_started")


def tool_calls(frames: list[dict[str, Any]]) -> list[str]:
    return [each["tool_call_id"] for each in frames if each["type"] == "tool_call"]


def was_read(world: World) -> bool:
    """Whether the model saw the nudge."""
    in_json = json.dumps(SOFT_TEXT)[1:-1]
    return any(in_json in each for each in world.models.requests)
