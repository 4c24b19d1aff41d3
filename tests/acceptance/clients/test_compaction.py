"""The real agents summarise their history, and reminders wait for that."""

from __future__ import annotations

import asyncio
import shutil

import pytest

from tests.acceptance.clients.conftest import DRIVERS, World, outcomes, text_of
from tests.acceptance.contract.conftest import finished

CODEX_ARGUMENTS = (
    "--dangerously-bypass-approvals-and-sandbox,--dangerously-bypass-hook-trust,"
    "--config=model_auto_compact_token_limit=10"
)


@pytest.mark.proof
@pytest.mark.parametrize("place", ["headless", pytest.param("tmux", marks=pytest.mark.proof)])
@pytest.mark.parametrize("agent", DRIVERS)
async def test_a_reminder_waits_until_the_agent_has_summarised_its_history(
    world: World, agent: str, place: str
) -> None:
    if place == "tmux" and shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    gate = f"{agent}-{place}-summary"
    script = f"[[wait: {gate}]] [[say: the summary]]"
    world.serve(NAVI_CODEX_ARGUMENTS=CODEX_ARGUMENTS)
    if agent == "codex":
        # Only a hook reports it, and only a person can make Codex trust a hook.
        await asyncio.to_thread(world.set_up, agent)
    async with world.client() as client:
        driver, model = ("tmux", agent) if place == "tmux" else (agent, None)
        session_id = await world.session(client, driver, model=model)
        await world.turn(client, session_id, "[[say: so far]]")

        if agent == "claude_code":
            await client.say(session_id, f"/compact {script}")
        else:
            world.models.otherwise = script
            await client.say(session_id, "[[say: goes on]]")
        try:
            assert await asyncio.to_thread(world.models.reached[gate].wait, 60)
            reminder = {
                "session_id": session_id,
                "delay_seconds": 1,
                "message": "[[say: reminded]]",
            }
            await client.call("POST", "/scheduler/remind", reminder)
            await asyncio.sleep(2)
            # An interrupted turn would say so.
            messages = await client.messages(session_id)
            assert [each["metadata"] for each in messages] == [{}, {}, {}]
        finally:
            world.models.otherwise = ""
            world.models.gates[gate].set()
        frames = await finished(client, session_id, turns=3)

    assert outcomes(frames)[-1] == "ok"
    assert text_of(frames).endswith("reminded")
