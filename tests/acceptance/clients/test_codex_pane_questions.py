"""What Codex asks in a pane of Navi's, answered there or elsewhere. The first answer counts."""

from __future__ import annotations

import asyncio
import os
import shutil
from signal import SIGKILL
from typing import Any

import pytest

from navi.base.paths import pane_name
from tests.acceptance.clients.asking import COLOUR, answer, every_question, open_questions, runs
from tests.acceptance.clients.codex import ASKING, RUN, agents, call, kill_agents
from tests.acceptance.clients.conftest import World, outcomes, text_of
from tests.acceptance.contract.conftest import finished
from tests.acceptance.contract.person import Person
from tests.server import Client
from tests.waiting import eventually

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
DIALOG = "Would you like to run the following command?"


async def pane(world: World, client: Client, prompt: str = RUN) -> str:
    """A session with Codex in a pane, which works on the prompt."""
    session_id = await world.session(client, "tmux", program="codex")
    await client.say(session_id, prompt)
    return session_id


def screen(world: World, session_id: str) -> str:
    return world.tmux("capture-pane", "-p", "-t", f"={pane_name(session_id)}:")


async def shows(world: World, session_id: str, text: str) -> None:
    await eventually(lambda: text in screen(world, session_id), f"the pane shows {text!r}")


async def test_a_permission_is_given_with_sm_and_the_dialog_closes(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await pane(world, client)
        [question] = await open_questions(client, session_id)
        assert (question["kind"], question["tool_name"]) == ("permission", "shell")
        assert question["deadline_at"] is not None
        assert (await client.call("GET", f"/sessions/{session_id}"))["state"] == "waiting"
        await shows(world, session_id, DIALOG)
        assert runs(world) == 0

        await asyncio.to_thread(Person(world.server).run, "answer", question["id"], "allow")

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        assert text_of(frames) == "on we go"
        assert runs(world) == 1
        assert DIALOG not in screen(world, session_id)
        assert len(await every_question(client, session_id)) == 1


async def test_what_the_person_answers_in_the_pane_counts(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await pane(world, client)
        [question] = await open_questions(client, session_id)
        await shows(world, session_id, DIALOG)
        world.tmux("send-keys", "-t", f"={pane_name(session_id)}:", "y")

        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert runs(world) == 1
        closed = await client.call("GET", f"/questions/{question['id']}")
        assert (closed["state"], closed["answered_via"]) == ("withdrawn", "terminal")


async def test_a_denial_says_why(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await pane(world, client)
        [question] = await open_questions(client, session_id)
        await answer(client, question, "deny", text="not today")

        assert outcomes(await finished(client, session_id)) == ["denied"]
        assert runs(world) == 0
        assert any("not today" in request for request in world.models.requests)


async def test_a_choice_is_made_outside_the_pane(world: World) -> None:
    world.serve(**ASKING)
    entry = {"id": "colour", **{key: COLOUR[key] for key in ("question", "header", "options")}}
    script = call("request_user_input", questions=[entry]) + " [[say: on we go]]"
    async with world.client() as client:
        session_id = await pane(world, client, script)
        [question] = await open_questions(client, session_id)
        await answer(client, question, "choose", choices=["Blue"])

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        [made] = [each for each in frames if each["type"] == "tool_call"]
        assert "Blue" in made["result"]


async def test_a_question_outlives_its_server_and_is_asked_once(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await pane(world, client)
        [question] = await open_questions(client, session_id)

    world.server.kill()
    world.server.start()

    async with world.client() as client:
        await answer(client, question, "allow")
        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert len(await every_question(client, session_id)) == 1
        assert runs(world) == 1


async def test_codex_ends_with_its_pane(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await pane(world, client, "[[say: here]]")
        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert agents(world)

        frames = await world.turn(client, session_id, "[[say: again]]", turns=2)
        assert outcomes(frames) == ["ok", "ok"]
        assert len(world.transcripts()) == 1

        await client.say(session_id, RUN)
        await open_questions(client, session_id)
        await client.call("POST", f"/sessions/{session_id}/kill")
        await eventually(lambda: not agents(world), "no process is left, though it had work")


@pytest.mark.parametrize("killed", ["server", "terminal"])
async def test_a_pane_whose_codex_is_killed_comes_back_in_the_same_conversation(
    world: World, killed: str
) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await pane(world, client)
        await open_questions(client, session_id)
        if killed == "server":
            kill_agents(world)
        else:
            name = f"={pane_name(session_id)}:"
            os.kill(int(world.tmux("list-panes", "-t", name, "-F", "#{pane_pid}")), SIGKILL)

        [ending] = outcomes(await finished(client, session_id))
        assert ending != "ok"
        assert await open_now(client, session_id) == []
        frames = await world.turn(client, session_id, "[[say: back again]]", turns=2)
        assert outcomes(frames)[-1] == "ok"
        assert runs(world) == 0


async def open_now(client: Client, session_id: str) -> list[dict[str, Any]]:
    questions = await every_question(client, session_id)
    return [each for each in questions if each["state"] == "open"]


async def test_a_change_of_files_shows_its_patch_to_the_next_server_too(world: World) -> None:
    world.serve(NAVI_CODEX_ARGUMENTS="--sandbox=read-only")
    patch = "*** Begin Patch\n*** Add File: made\n+hello\n*** End Patch"
    command = call("exec_command", cmd=f"apply_patch <<'EOF'\n{patch}\nEOF")
    async with world.client() as client:
        session_id = await pane(world, client, f"{command} [[say: done]]")
        [question] = await open_questions(client, session_id)
        assert question["tool_input"]["patch"] == patch

    world.server.kill()
    world.server.start()

    async with world.client() as client:
        await answer(client, question, "allow")
        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert len(await every_question(client, session_id)) == 1
        assert (world.work / "made").read_text() == "hello\n"
