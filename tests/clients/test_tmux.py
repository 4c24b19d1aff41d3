"""The real Claude Code and the real Codex in panes of tmux."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal

import pytest

from navi.domain.places import pane_name
from tests.clients.conftest import DRIVERS, World, frames_of, outcomes, text_of
from tests.contract.conftest import finished, receive_until
from tests.server import Client

pytestmark = [
    pytest.mark.parametrize("agent", DRIVERS),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
AWKWARD = "- leading dash, 'quotes' \"double\" `id` $HOME \\n\nüñí ✓ 日本語\n[[say: got it]]\n"


async def pane_session(world: World, client: Client, agent: str) -> str:
    return await world.session(client, "tmux", model=agent)


async def test_texts_arrive_whole_and_are_submitted_once(
    world: World, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    long = AWKWARD + "0123456789" * 1000

    frames = await world.turn(client, session_id, AWKWARD)
    assert text_of(frames) == "got it"
    frames = await world.turn(client, session_id, long, turns=2)

    assert outcomes(frames) == ["ok", "ok"]
    arrived = [prompt for prompt in world.models.prompts if "leading dash" in prompt]
    assert [text.strip() for text in arrived[-2:]] == [AWKWARD.strip(), long.strip()]
    assert len(world.transcripts()) == 1


async def test_an_urgent_input_interrupts_and_is_next(
    world: World, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    gate = f"{agent}-urgent"
    await client.say(session_id, f"[[bash: echo on]] [[wait: {gate}]] [[say: never said]]")
    assert await asyncio.to_thread(world.models.reached[gate].wait, 60)

    await client.say(session_id, "[[say: at once]]", delivery_mode="urgent")

    frames = await finished(client, session_id, turns=2)
    assert outcomes(frames) == ["stopped", "ok"]
    assert text_of(frames).endswith("at once")
    assert "never said" not in text_of(frames)


async def test_a_command_that_runs_on_in_the_background_holds_up_nothing(
    world: World, client: Client, agent: str
) -> None:
    if agent == "codex":
        pytest.skip("Codex has no such commands")
    session_id = await pane_session(world, client, agent)
    command = '{"command": "sleep 600", "run_in_background": true}'
    await world.turn(client, session_id, f"[[tool: Bash | {command}]] [[say: it runs]]")

    frames = await world.turn(client, session_id, "[[say: and on]]", turns=2)

    assert outcomes(frames) == ["ok", "ok"]
    assert text_of(frames).endswith("and on")


async def test_a_half_typed_line_of_a_person_is_left_alone(
    world: World, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    await world.turn(client, session_id, "[[say: ready]]")
    pane = f"={pane_name(session_id)}:"
    world.tmux("send-keys", "-t", pane, "-l", "half a thou")
    while "half a thou" not in world.tmux("capture-pane", "-p", "-t", pane):
        await asyncio.sleep(0.05)

    async with client.watch(session_id) as socket:
        await client.say(session_id, "[[say: after the person]]")
        await receive_until(socket, "stream_start")
        for _ in range(10):
            await asyncio.sleep(0.1)
            assert "after the person" not in world.tmux("capture-pane", "-p", "-t", pane)
        world.tmux("send-keys", "-t", pane, "C-u")

    frames = await finished(client, session_id, turns=2)
    assert outcomes(frames) == ["ok", "ok"]
    assert not any("half a thou" in prompt for prompt in world.models.prompts)


async def test_a_turn_in_a_pane_outlives_the_server(
    world: World, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    gate = f"{agent}-pane-outlives"
    await client.say(session_id, f"[[bash: echo x >>count]] [[wait: {gate}]] [[say: last]]")
    assert await asyncio.to_thread(world.models.reached[gate].wait, 60)

    world.server.kill()
    world.server.start()
    world.models.gates[gate].set()

    async with world.client() as again:
        frames = await finished(again, session_id)
        assert outcomes(frames) == ["ok"]
        assert text_of(frames) == "last"
        assert (world.work / "count").read_text() == "x\n"


async def test_an_agent_that_dies_in_its_pane_is_seen_and_comes_back(
    world: World, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    gate = f"{agent}-dies"
    await world.turn(client, session_id, "[[say: before]]")
    await client.say(session_id, f"[[wait: {gate}]]")
    assert await asyncio.to_thread(world.models.reached[gate].wait, 60)
    pid = world.tmux("list-panes", "-t", f"={pane_name(session_id)}:", "-F", "#{pane_pid}")

    os.kill(int(pid), signal.SIGKILL)

    frames = await finished(client, session_id, turns=2)
    [_, end] = frames_of(frames, "stream_end")
    assert end["outcome"] == "error"
    assert "ended in its pane" in end["error"]
    frames = await world.turn(client, session_id, "[[say: back again]]", turns=3)
    assert outcomes(frames)[-1] == "ok"
    assert len(world.transcripts()) == 1


async def test_a_killed_session_leaves_no_pane(world: World, client: Client, agent: str) -> None:
    session_id = await pane_session(world, client, agent)
    await world.turn(client, session_id, "[[say: here]]")
    assert pane_name(session_id) in world.tmux("list-sessions")

    await client.call("POST", f"/sessions/{session_id}/kill")

    assert pane_name(session_id) not in world.tmux("list-sessions")


async def test_an_agent_that_asks_for_permission_is_shown_as_waiting(
    world: World, agent: str
) -> None:
    if agent == "codex":
        pytest.skip("nothing outside Codex's screen tells that it asks")
    world.serve(NAVI_CLAUDE_CODE_ARGUMENTS="--permission-mode=default")
    async with world.client() as client:
        session_id = await pane_session(world, client, agent)
        await client.say(session_id, "[[bash: touch permitted]] [[say: done]]")
        await state_becomes(client, session_id, "waiting")

        # Claude Code takes no notice of a key that comes right after its question.
        while not (world.work / "permitted").exists():
            world.tmux("send-keys", "-t", f"={pane_name(session_id)}:", "Enter")
            await asyncio.sleep(0.5)

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        assert (world.work / "permitted").exists()
        await state_becomes(client, session_id, "idle")


async def state_becomes(client: Client, session_id: str, state: str) -> None:
    while (await client.call("GET", f"/sessions/{session_id}"))["state"] != state:
        await asyncio.sleep(0.05)
