"""Server and agent are killed at any moment around a question: nothing is lost or done twice."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from tests.acceptance.clients.asking import answer, open_questions, runs
from tests.acceptance.clients.codex import ASKING, RUN, agents, kill_agents
from tests.acceptance.clients.conftest import World, outcomes
from tests.acceptance.contract.conftest import finished
from tests.server import Client

pytestmark = pytest.mark.proof

ROUNDS = 9
VICTIMS = ("server", "agent", "both")


async def test_a_question_of_codex_survives_kills_at_any_moment(world: World) -> None:
    dice = random.Random(20)
    world.serve(**ASKING)
    world.models.otherwise = RUN  # what Codex does once it was started again
    try:
        for number in range(ROUNDS):
            victim = VICTIMS[number % len(VICTIMS)]
            end = await one_round(world, victim, dice.uniform(0.2, 2.5))
            ran = runs(world)
            (world.work / "count").unlink(missing_ok=True)
            if victim == "server" or end == "ok":
                assert (number, end, ran) == (number, "ok", 1)
            else:
                assert "killed" in end
                assert ran <= 1
    finally:
        world.models.otherwise = ""
    assert not agents(world)


async def one_round(world: World, victim: str, delay: float) -> str:
    """How the turn ended in which somebody was killed after that time."""
    async with world.client() as client:
        session_id = await world.session(client, "codex")
        person = asyncio.create_task(answers(client, session_id))
        await client.say(session_id, RUN)
        await asyncio.sleep(delay)
        if victim != "server":
            kill_agents(world)
        if victim == "agent":
            return await ending(client, session_id, person)
        world.server.kill()
        person.cancel()
        await asyncio.gather(person, return_exceptions=True)

    world.server.start()
    async with world.client() as client:
        person = asyncio.create_task(answers(client, session_id))
        return await ending(client, session_id, person)


async def ending(client: Client, session_id: str, person: asyncio.Task[None]) -> str:
    try:
        [outcome] = outcomes(await finished(client, session_id))
        return outcome
    finally:
        person.cancel()
        await asyncio.gather(person, return_exceptions=True)


async def answers(client: Client, session_id: str) -> None:
    """Allow whatever is asked, until nobody asks any more."""
    while True:
        question: dict[str, Any]
        for question in await open_questions(client, session_id):
            await answer(client, question, "allow")
