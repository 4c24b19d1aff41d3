"""Killing the server neither loses nor duplicates a message to a real agent."""

from __future__ import annotations

import shutil

import pytest

from tests.acceptance.clients.agent_storm import AgentMessages
from tests.acceptance.clients.conftest import World
from tests.acceptance.flows.storm import Storm

pytestmark = pytest.mark.proof


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_messages_to_agents_arrive_once_even_if_the_server_is_killed(world: World) -> None:
    workload = AgentMessages(world.work, messages=16)

    report = await Storm([world.serve()], workload, seed=6, longest_life_seconds=1.5).run(kills=4)

    assert report.violations == []
    assert report.kills == 4
