"""Turns of the real Claude Code and the real Codex, without a terminal."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from tests.acceptance.clients.conftest import DRIVERS, World, frames_of, outcomes, text_of
from tests.acceptance.contract.conftest import finished
from tests.server import Client
from tests.waiting import eventually

pytestmark = pytest.mark.parametrize("driver", DRIVERS)


async def test_a_turn_thinks_calls_a_tool_and_answers(
    world: World, client: Client, driver: str
) -> None:
    session_id = await world.session(client, driver)

    frames = await world.turn(
        client,
        session_id,
        "[[think: Let me see.]] [[bash: echo hello >made.txt; echo made]] [[say: It is made.]]",
    )

    assert outcomes(frames) == ["ok"]
    assert (world.work / "made.txt").read_text() == "hello\n"
    assert text_of(frames) == "It is made."
    [call] = frames_of(frames, "tool_call")
    assert call["result"].strip() == "made"
    assert not call["is_error"]
    assert "Let me see." in "".join(each["delta"] for each in frames_of(frames, "thinking_delta"))
    prompt, step, answer = await client.messages(session_id)
    assert (prompt["role"], step["tool_calls"][0]["id"]) == ("user", call["tool_call_id"])
    assert answer["content"] == "It is made."


async def test_the_next_turn_goes_on_with_the_same_conversation(
    world: World, client: Client, driver: str
) -> None:
    session_id = await world.session(client, driver)
    await world.turn(client, session_id, "[[say: one]]")
    await world.turn(client, session_id, "[[say: two]]", turns=2)

    [transcript] = world.transcripts()
    text = transcript.read_text()
    assert "[[say: one]]" in text
    assert "[[say: two]]" in text


@pytest.mark.proof
async def test_awkward_texts_arrive_as_they_are(world: World, client: Client, driver: str) -> None:
    text = "-p --help 'quotes' \"double\" $HOME `id`\n\nüñí ✓ 日本語\n" + "x" * 200_000
    session_id = await world.session(client, driver)

    frames = await world.turn(client, session_id, text)

    assert outcomes(frames) == ["ok"]
    assert any(text in prompt for prompt in world.models.prompts)


@pytest.mark.proof
async def test_a_cleared_session_starts_afresh(world: World, client: Client, driver: str) -> None:
    session_id = await world.session(client, driver)
    await world.turn(client, session_id, "[[say: one]]")
    await client.call("POST", f"/sessions/{session_id}/clear")
    await world.turn(client, session_id, "[[say: two]]", turns=2)

    assert len(world.transcripts()) == 2


@pytest.mark.proof
async def test_a_stopped_turn_leaves_no_process_and_can_be_followed_by_another(
    world: World, client: Client, driver: str
) -> None:
    session_id = await world.session(client, driver)
    await client.say(session_id, "[[bash: echo $$ >pid; exec sleep 600]]")
    pid = await _number_in(world.work / "pid")

    await client.call("POST", f"/sessions/{session_id}/stop")

    frames = await finished(client, session_id)
    assert outcomes(frames) == ["stopped"]
    await _until_gone(pid)
    frames = await world.turn(client, session_id, "[[say: on we go]]", turns=2)
    assert outcomes(frames) == ["stopped", "ok"]


@pytest.mark.proof
async def test_an_error_of_the_model_is_quoted(world: World, client: Client, driver: str) -> None:
    session_id = await world.session(client, driver)
    frames = await world.turn(client, session_id, "[[error: 400]]")
    [end] = frames_of(frames, "stream_end")
    assert end["outcome"] == "error"
    assert "scripted error 400" in end["error"]


async def test_a_client_that_is_killed_is_seen_and_the_session_goes_on(
    world: World, client: Client, driver: str
) -> None:
    session_id = await world.session(client, driver)
    await world.turn(client, session_id, "[[say: before]]")
    await client.say(session_id, "[[bash: echo $$ >shell; echo $PPID >pid; sleep 600]]")
    os.kill(await _number_in(world.work / "pid"), signal.SIGKILL)

    frames = await finished(client, session_id, turns=2)
    assert outcomes(frames)[0] == "ok"
    assert "killed" in outcomes(frames)[1]
    await _until_gone(await _number_in(world.work / "shell"))
    frames = await world.turn(client, session_id, "[[say: after]]", turns=3)
    assert outcomes(frames)[-1] == "ok"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM], ids=["crash", "service stop"])
async def test_a_turn_outlives_its_server_and_is_reported_once(
    world: World, client: Client, driver: str, end: signal.Signals
) -> None:
    session_id = await world.session(client, driver)
    gate = f"{driver}-outlives-{end.name}"
    await client.say(
        session_id, f"[[say: first]] [[bash: echo x >>count]] [[wait: {gate}]] [[say: last]]"
    )
    assert await asyncio.to_thread(world.models.reached[gate].wait, 60)

    world.server.end(end)
    world.server.start()
    world.models.gates[gate].set()

    async with world.client() as again:
        frames = await finished(again, session_id)
        assert outcomes(frames) == ["ok"]
        assert "".join(text_of(frames).split()) == "firstlast"
        assert (world.work / "count").read_text() == "x\n"
        assert len(await again.messages(session_id)) == 3


async def test_two_wake_ups_of_one_session_never_overlap(
    world: World, client: Client, driver: str
) -> None:
    """Each turn records its beginning and end, so the agents' own notes show any overlap."""
    session_id = await world.session(client, driver)
    gate = f"{driver}-wakes"
    task = f"[[bash: echo begins >>notes]] [[wait: {gate}]] [[bash: echo ends >>notes]]"
    recall = {"call_type": "once", "when": "now", "additional_context_message": task}
    await client.call("POST", f"/sessions/{session_id}/recall", recall, expect=201)
    assert await asyncio.to_thread(world.models.reached[gate].wait, 60)
    automation = {"name": "second", "message": task, "at": "now"}
    path = f"/sessions/{session_id}/automations"
    await client.call("POST", path, automation, expect=201)
    queue = f"/sessions/{session_id}/queue"
    await eventually(lambda: client.call("GET", queue), "the automation waits")
    world.models.gates[gate].set()

    frames = await finished(client, session_id, turns=2)

    assert outcomes(frames) == ["ok", "ok"]
    assert (world.work / "notes").read_text().split() == ["begins", "ends"] * 2
    assert len(world.transcripts()) == 1


async def _number_in(path: Path) -> int:
    return int(await eventually(lambda: _text_of(path), f"{path} is written"))


def _text_of(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""


async def _until_gone(pid: int) -> None:
    """A killed process takes a moment to die."""
    await eventually(lambda: not _is_alive(pid), f"process {pid} is gone")


def _is_alive(pid: int) -> bool:
    """Still running, and not a zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status[status.rindex(")") + 2] not in "ZX"
