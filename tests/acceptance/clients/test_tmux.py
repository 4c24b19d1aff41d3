"""The real Claude Code and the real Codex in panes of tmux."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal

import pytest

from navi.base.paths import pane_name
from tests.acceptance.clients.conftest import DRIVERS, World, frames_of, outcomes, text_of
from tests.acceptance.clients.unreliable_tmux import UnreliableTmux
from tests.acceptance.contract.conftest import finished, receive_until
from tests.server import Client
from tests.waiting import eventually

pytestmark = [
    pytest.mark.parametrize("agent", DRIVERS),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
INTERRUPTED = {"claude_code": "[Request interrupted by user]", "codex": '"turn_aborted"'}
AWKWARD = "- leading dash, 'quotes' \"double\" `id` $HOME \\n\nüñí ✓ 日本語\n[[say: got it]]\n"


async def pane_session(world: World, client: Client, agent: str) -> str:
    return await world.session(client, "tmux", model=agent)


async def at_work(world: World, client: Client, session_id: str, gate: str) -> None:
    """The agent has done something and waits for its model."""
    await client.say(session_id, f"[[bash: echo on]] [[wait: {gate}]] [[say: never said]]")
    assert await asyncio.to_thread(world.models.reached[gate].wait, 60)


@pytest.fixture
def tmux(world: World) -> UnreliableTmux:
    return UnreliableTmux(world.home / "bin", world.home / "faults")


@pytest.mark.proof
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


@pytest.mark.proof
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


@pytest.mark.proof
async def test_a_turn_that_a_person_interrupts_in_the_pane_was_stopped(
    world: World, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    await at_work(world, client, session_id, f"{agent}-by-hand")

    world.tmux("send-keys", "-t", f"={pane_name(session_id)}:", "Escape")

    frames = await finished(client, session_id)
    assert outcomes(frames) == ["stopped"]


@pytest.mark.proof
@pytest.mark.parametrize("fault", ["escape", "refuse"])
async def test_an_escape_that_did_not_arrive_is_pressed_again(
    world: World, tmux: UnreliableTmux, client: Client, agent: str, fault: str
) -> None:
    session_id = await pane_session(world, client, agent)
    gate = f"{agent}-lost-{fault}"
    await at_work(world, client, session_id, gate)

    tmux.plant(fault)
    await client.say(session_id, "[[say: at once]]", delivery_mode="urgent")

    frames = await finished(client, session_id, turns=2)
    assert tmux.has_struck(fault)
    assert outcomes(frames) == ["stopped", "ok"]
    assert text_of(frames).endswith("at once")
    assert not world.models.gates[gate].is_set()


@pytest.mark.proof
async def test_a_stop_that_is_repeated_does_not_cut_its_interruption_short(
    world: World, tmux: UnreliableTmux, agent: str
) -> None:
    # The server looks for stops eight times per lease, so it sees this one repeatedly.
    world.serve(NAVI_TURNS_LEASE_SECONDS="2")
    async with world.client() as client:
        session_id = await pane_session(world, client, agent)
        gate = f"{agent}-repeated"
        await at_work(world, client, session_id, gate)

        tmux.plant("slow")
        await client.call("POST", f"/sessions/{session_id}/stop")

        assert outcomes(await finished(client, session_id)) == ["stopped"]
        [transcript] = world.transcripts()
        assert INTERRUPTED[agent] in transcript.read_text()


@pytest.mark.proof
async def test_an_agent_that_is_interrupted_before_its_first_words_takes_the_next_input(
    world: World, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    await world.turn(client, session_id, "[[say: ready]]")
    gate = f"{agent}-speechless"
    await client.say(session_id, f"[[wait: {gate}]]\n[[say: never said]]")
    assert await asyncio.to_thread(world.models.reached[gate].wait, 60)

    await client.say(session_id, "[[say: at once]]", delivery_mode="urgent")

    frames = await finished(client, session_id, turns=3)
    assert outcomes(frames) == ["ok", "stopped", "ok"]
    assert world.models.prompts[-1] == "[[say: at once]]"


@pytest.mark.proof
async def test_a_pane_in_which_a_person_scrolls_is_interrupted(
    world: World, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    await at_work(world, client, session_id, f"{agent}-scrolls")
    world.tmux("copy-mode", "-t", f"={pane_name(session_id)}:")

    await client.say(session_id, "[[say: at once]]", delivery_mode="urgent")

    frames = await finished(client, session_id, turns=2)
    assert outcomes(frames) == ["stopped", "ok"]


@pytest.mark.proof
async def test_an_agent_that_cannot_be_interrupted_is_reported_and_tried_again(
    world: World, tmux: UnreliableTmux, client: Client, agent: str
) -> None:
    if agent == "claude_code":
        pytest.skip("it takes half a minute, and nothing in it depends on the agent")
    session_id = await pane_session(world, client, agent)
    await at_work(world, client, session_id, f"{agent}-stubborn")
    tmux.plant("no-escape")

    await client.say(session_id, "[[say: at once]]", delivery_mode="urgent")

    [ending] = outcomes(await finished(client, session_id))
    assert "could not be interrupted" in ending
    assert f"sm attach {session_id}" in ending
    assert world.models.prompts[-1] != "[[say: at once]]"
    tmux.repair("no-escape")
    frames = await finished(client, session_id, turns=2)
    assert outcomes(frames)[1] == "ok"
    assert text_of(frames).endswith("at once")


@pytest.mark.proof
async def test_a_server_that_dies_before_it_interrupts_leaves_that_to_the_next(
    world: World, tmux: UnreliableTmux, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    await at_work(world, client, session_id, f"{agent}-dying-server")
    tmux.plant("slow")
    await client.say(session_id, "[[say: at once]]", delivery_mode="urgent")

    world.server.kill()
    tmux.repair("slow")
    world.server.start()

    async with world.client() as again:
        frames = await finished(again, session_id, turns=2)
        assert outcomes(frames) == ["stopped", "ok"]
        assert text_of(frames).endswith("at once")
        assert "never said" not in text_of(frames)


@pytest.mark.proof
async def test_a_lost_enter_is_pressed_again(
    world: World, tmux: UnreliableTmux, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    await world.turn(client, session_id, "[[say: ready]]")
    earlier_count = len(world.models.prompts)
    tmux.plant("enter")

    frames = await world.turn(client, session_id, AWKWARD, turns=2)

    assert tmux.has_struck("enter")
    assert outcomes(frames) == ["ok", "ok"]
    assert text_of(frames).endswith("got it")
    [prompt] = world.models.prompts[earlier_count:]
    assert prompt.strip() == AWKWARD.strip()


@pytest.mark.proof
async def test_a_stop_before_the_prompt_is_submitted_takes_it_out_again(
    world: World, tmux: UnreliableTmux, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    await world.turn(client, session_id, "[[say: ready]]")
    tmux.plant("enter")
    await client.say(session_id, "[[say: never said]]")
    await eventually(lambda: tmux.has_struck("enter"), "Enter was lost")

    await client.say(session_id, "[[say: at once]]", delivery_mode="urgent")

    frames = await finished(client, session_id, turns=3)
    assert outcomes(frames) == ["ok", "stopped", "ok"]
    assert world.models.prompts[-2:] == ["[[say: ready]]", "[[say: at once]]"]


@pytest.mark.proof
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


@pytest.mark.proof
async def test_a_half_typed_line_of_a_person_is_left_alone(
    world: World, client: Client, agent: str
) -> None:
    session_id = await pane_session(world, client, agent)
    await world.turn(client, session_id, "[[say: ready]]")
    pane = f"={pane_name(session_id)}:"
    world.tmux("send-keys", "-t", pane, "-l", "half a thou")
    await eventually(
        lambda: "half a thou" in world.tmux("capture-pane", "-p", "-t", pane), "it is shown"
    )

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


@pytest.mark.proof
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
    assert "exited during this turn" in end["error"]
    frames = await world.turn(client, session_id, "[[say: back again]]", turns=3)
    assert outcomes(frames)[-1] == "ok"
    assert len(world.transcripts()) == 1


@pytest.mark.proof
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
        pytest.skip("test_codex_pane_questions.py has what Codex asks in a pane")
    world.serve(NAVI_CLAUDE_CODE_ARGUMENTS="--permission-mode=default")
    async with world.client() as client:
        session_id = await pane_session(world, client, agent)
        await client.say(session_id, "[[bash: touch permitted]] [[say: done]]")
        await state_becomes(client, session_id, "waiting")

        # Claude Code ignores a key pressed right after its question appears.
        while not (world.work / "permitted").exists():
            world.tmux("send-keys", "-t", f"={pane_name(session_id)}:", "Enter")
            await asyncio.sleep(0.5)

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        assert (world.work / "permitted").exists()
        await state_becomes(client, session_id, "idle")


async def state_becomes(client: Client, session_id: str, state: str) -> None:
    async def is_so() -> bool:
        return bool((await client.call("GET", f"/sessions/{session_id}"))["state"] == state)

    await eventually(is_so, f"the session is {state}")
