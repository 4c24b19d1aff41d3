"""What Claude Code asks a person without a terminal, and what it does with the answers."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import psutil
import pytest

from tests.acceptance.clients.asking import (
    ASKING,
    COLOUR,
    RUN,
    answer,
    choose,
    every_question,
    has_said,
    kill_server_while,
    open_questions,
    print_seconds,
    runs,
)
from tests.acceptance.clients.conftest import World, frames_of, outcomes, text_of
from tests.acceptance.contract.conftest import finished
from tests.server import Client
from tests.waiting import PATIENCE_SECONDS, eventually

SIZES = [{"label": each, "description": each} for each in ("S", "M", "L")]
SIZE = {"question": "Which sizes?", "header": "Sizes", "options": SIZES, "multiSelect": True}


async def session(world: World, client: Client) -> str:
    return await world.session(client, "claude_code")


def kill_agent(world: World) -> None:
    """Kill Claude Code, and wait until it can read nothing more."""
    [record] = (world.home / ".claude" / "sessions").glob("*.json")
    agent = psutil.Process(int(record.stem))
    agent.kill()
    agent.wait(PATIENCE_SECONDS)


async def test_a_permission_that_is_allowed_runs_the_tool_once(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)

        [output] = (world.home / "navi").rglob("out")
        stored = datetime.fromisoformat(question["created_at"]).timestamp()
        print_seconds("from the agent's question to its row", stored - output.stat().st_mtime)
        assert (question["kind"], question["tool_name"]) == ("permission", "Bash")
        assert question["tool_input"]["command"] == "echo ran >>count"
        assert question["title"] == "May I call Bash(echo ran >>count)?"
        assert (await client.call("GET", f"/sessions/{session_id}"))["state"] == "waiting"
        assert runs(world) == 0

        await answer(client, question, "allow")

        frames = await finished(client, session_id)
        closed = await client.call("GET", f"/questions/{question['id']}")
        answered = datetime.fromisoformat(closed["answered_at"]).timestamp()
        resumed = (world.work / "count").stat().st_mtime
        print_seconds("from the answer until the tool ran", resumed - answered)
        assert outcomes(frames) == ["ok"]
        assert text_of(frames) == "on we go"
        assert runs(world) == 1


@pytest.mark.proof
async def test_changed_input_is_what_the_tool_runs_with(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, "[[bash: echo theirs >made]] [[say: done]]")
        [question] = await open_questions(client, session_id)
        assert question["takes_updated_input"]
        changed = {**question["tool_input"], "command": "echo ours >made # " + "x" * 100_000}
        await answer(client, question, "allow", updated_input=changed)

        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert (world.work / "made").read_text() == "ours\n"


@pytest.mark.proof
async def test_a_denial_is_read_by_the_agent_and_the_turn_is_denied(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        await answer(
            client, (await open_questions(client, session_id))[0], "deny", text="not today"
        )

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["denied"]
        [call] = frames_of(frames, "tool_call")
        assert (call["is_error"], call["result"]) == (True, "not today")
        assert runs(world) == 0


@pytest.mark.proof
async def test_always_allow_asks_no_second_time(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, "[[bash: touch made]] [[say: done]]")
        await answer(client, (await open_questions(client, session_id))[0], "allow_always")
        await finished(client, session_id)

        frames = await world.turn(client, session_id, "[[bash: touch made]] [[say: 2]]", turns=2)

        assert outcomes(frames) == ["ok", "ok"]
        assert len(await every_question(client, session_id)) == 1
        settings = world.work / ".claude" / "settings.local.json"
        assert json.loads(settings.read_text())["permissions"]["allow"] == ["Bash(touch made *)"]


@pytest.mark.proof
async def test_several_choices_are_questions_of_their_own_and_answered_together(
    world: World,
) -> None:
    world.serve()  # the tool that runs after the answers is allowed
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, choose(COLOUR, SIZE))
        colour, sizes = await open_questions(client, session_id, 2)

        assert [each["label"] for each in colour["options"]] == ["Red", "Blue"]
        assert (colour["allow_several"], sizes["allow_several"]) == (False, True)
        await answer(client, colour, "reply", text="Green, but light")
        await answer(client, sizes, "choose", choices=["S", "L"])

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        result = frames_of(frames, "tool_call")[0]["result"]
        assert '"Which colour?"="Green, but light"' in result
        assert '"Which sizes?"="S, L"' in result


async def test_nothing_runs_while_a_choice_waits_and_the_answer_continues_the_turn(
    world: World,
) -> None:
    world.serve()
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, choose(COLOUR))
        [question] = await open_questions(client, session_id)
        await eventually(lambda: not agents(world), "Claude Code has ended")
        assert (await client.call("GET", f"/sessions/{session_id}"))["state"] == "waiting"

    world.server.kill()
    world.server.start()

    async with world.client() as client:
        await answer(client, question, "choose", choices=["Blue"])
        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        assert text_of(frames) == "on we go"
        [choice, _] = frames_of(frames, "tool_call")
        assert '"Which colour?"="Blue"' in choice["result"]
        assert len(await every_question(client, session_id)) == 1
        assert runs(world) == 1


@pytest.mark.proof
async def test_one_choice_after_the_other_is_answered_in_the_same_turn(world: World) -> None:
    world.serve()
    size = {**COLOUR, "question": "Which size?"}
    calls = [
        f"[[tool: AskUserQuestion | {json.dumps({'questions': [each]})}]]"
        for each in (COLOUR, size)
    ]
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, " ".join([*calls, RUN]))
        for title in ("Which colour?", "Which size?"):
            [question] = await open_questions(client, session_id)
            assert question["title"] == title
            await answer(client, question, "choose", choices=["Red"])

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        assert len(frames_of(frames, "tool_call")) == 3
        assert runs(world) == 1


@pytest.mark.proof
async def test_two_choices_at_once_are_both_answered(world: World) -> None:
    world.serve()
    size = {**COLOUR, "question": "Which size?"}
    first, second = (json.dumps({"questions": [each]}) for each in (COLOUR, size))
    both = f"[[tool: AskUserQuestion | {first}]] [[&tool: AskUserQuestion | {second}]]"
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, f"{both} {RUN}")
        for _ in range(2):
            [question] = await open_questions(client, session_id)
            await answer(client, question, "choose", choices=["Red"])

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        results = [each["result"] for each in frames_of(frames, "tool_call")]
        assert sum('="Red"' in each for each in results) == 2
        assert runs(world) == 1


@pytest.mark.proof
async def test_a_choice_that_was_stopped_is_not_asked_again(world: World) -> None:
    world.serve()
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, choose(COLOUR))
        await open_questions(client, session_id)
        await eventually(lambda: not agents(world), "Claude Code has ended")
        await client.call("POST", f"/sessions/{session_id}/stop")
        assert outcomes(await finished(client, session_id)) == ["stopped"]

        frames = await world.turn(client, session_id, "[[bash: echo 2]] [[say: two]]", turns=2)

        assert outcomes(frames) == ["stopped", "ok"]
        assert text_of(frames) == "two"
        [question] = await every_question(client, session_id)
        assert question["state"] == "withdrawn"


@pytest.mark.proof
async def test_a_choice_waits_in_its_process_while_a_command_runs_in_the_background(
    world: World,
) -> None:
    world.serve()
    wait = "while [ ! -e over ]; do sleep 0.1; done"
    command = json.dumps({"command": wait, "description": "x", "run_in_background": True})
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, f"[[tool: Bash | {command}]] {choose(COLOUR)}")
        [question] = await open_questions(client, session_id)
        await eventually(lambda: has_said(world, "can_use_tool"), "it asks and waits")
        assert agents(world)
        await answer(client, question, "choose", choices=["Blue"])
        (world.work / "over").touch()
        assert outcomes(await finished(client, session_id)) == ["ok"]


@pytest.mark.proof
async def test_a_declined_choice_closes_its_neighbours_and_the_agent_reads_what_was_answered(
    world: World,
) -> None:
    world.serve()
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, choose(COLOUR, SIZE))
        colour, sizes = await open_questions(client, session_id, 2)
        await answer(client, sizes, "deny", text="I don't know")

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["denied"]
        assert frames_of(frames, "tool_call")[0]["result"] == "I don't know"
        assert (await client.call("GET", f"/questions/{colour['id']}"))["state"] == "withdrawn"


@pytest.mark.proof
async def test_a_plan_is_shown_and_approved(world: World) -> None:
    world.serve()
    path = json.dumps({"query": "select:EnterPlanMode,ExitPlanMode"})
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(
            session_id,
            f"[[tool: ToolSearch | {path}]] [[tool: EnterPlanMode | {{}}]] "
            "[[tool: ExitPlanMode | {}]] [[say: on we go]]",
        )
        [question] = await open_questions(client, session_id)
        assert question["kind"] == "plan"
        await answer(client, question, "allow")
        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        assert "approved" in frames_of(frames, "tool_call")[-1]["result"]


@pytest.mark.proof
async def test_a_sub_agent_in_the_background_asks_after_the_main_agents_answer(
    world: World,
) -> None:
    world.serve(**ASKING)
    world.models.otherwise = "[[bash: echo ran >>count]] [[say: sub done]]"
    task = {"description": "x", "prompt": "do it", "subagent_type": "general-purpose"}
    call = json.dumps({**task, "run_in_background": True})
    try:
        async with world.client() as client:
            session_id = await session(world, client)
            await client.say(session_id, f"[[tool: Agent | {call}]] [[say: main done]]")
            [question] = await open_questions(client, session_id)
            await eventually(lambda: has_said(world, '"type":"result"'), "the main agent is done")
            await answer(client, question, "allow")

            assert outcomes(await finished(client, session_id)) == ["ok"]
            assert runs(world) == 1
    finally:
        world.models.otherwise = ""


@pytest.mark.proof
async def test_an_expired_question_is_denied_with_a_message(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        await open_questions(client, session_id)

    world.server.kill()
    with closing(sqlite3.connect(world.home / "navi" / "navi.sqlite3")) as database:
        database.execute("UPDATE questions SET deadline_at = created_at")
        database.commit()
    world.server.start()

    async with world.client() as client:
        frames = await finished(client, session_id)
        assert outcomes(frames) == ["denied"]
        assert "Nobody answered within" in frames_of(frames, "tool_call")[0]["result"]
        assert runs(world) == 0


@pytest.mark.proof
async def test_of_two_simultaneous_answers_one_wins_and_the_other_is_refused(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        path = f"/questions/{question['id']}/answer"
        answers = [
            client.http.post(path, json={"decision": decision, "via": via})
            for decision, via in (("allow", "sm"), ("deny", "page"))
        ]
        responses = await asyncio.gather(*answers)

        assert sorted(each.status_code for each in responses) == [200, 409]
        winner = (await client.call("GET", f"/questions/{question['id']}"))["answer"]["decision"]
        await finished(client, session_id)
        assert runs(world) == (1 if winner == "allow" else 0)


@pytest.mark.proof
async def test_a_question_outlives_its_server_and_is_answered_by_the_next(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)

    world.server.kill()
    world.server.start()

    async with world.client() as client:
        [same] = await open_questions(client, session_id)
        assert same["id"] == question["id"]
        await answer(client, same, "allow")
        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert len(await every_question(client, session_id)) == 1
        assert runs(world) == 1


@pytest.mark.proof
async def test_an_answer_whose_server_died_before_handing_it_over_still_arrives(
    world: World,
) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        await kill_server_while(world, answer(client, question, "allow"))

    world.server.start()

    async with world.client() as client:
        [same] = await every_question(client, session_id)
        if same["state"] == "open":
            await answer(client, same, "allow")
        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert len(await every_question(client, session_id)) == 1
        assert runs(world) == 1


async def test_an_agent_that_is_killed_while_it_waits_asks_the_same_question_again(
    world: World,
) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, "[[bash: echo first]] " + RUN)
        [question] = await open_questions(client, session_id)
        kill_agent(world)
        await eventually(lambda: has_asked_again(world), "the new agent asks")
        assert runs(world) == 0
        await answer(client, question, "allow")

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        assert text_of(frames) == "on we go"
        assert len(await every_question(client, session_id)) == 1
        assert runs(world) == 1


@pytest.mark.proof
async def test_an_answer_given_while_the_agent_is_started_again_counts(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        kill_agent(world)
        await answer(client, question, "allow")

        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert len(await every_question(client, session_id)) == 1
        assert runs(world) == 1


@pytest.mark.proof
async def test_server_and_agent_are_killed_and_the_answer_given_before_still_counts(
    world: World,
) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        kill_agent(world)
        world.server.kill()

    world.server.start()

    async with world.client() as client:
        await answer(client, question, "allow")
        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert len(await every_question(client, session_id)) == 1
        assert runs(world) == 1


@pytest.mark.proof
async def test_an_agent_that_is_killed_while_its_tool_runs_is_not_started_again(
    world: World,
) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, "[[bash: echo ran >>count; sleep 600]] [[say: on we go]]")
        [question] = await open_questions(client, session_id)
        await answer(client, question, "allow")
        await eventually(lambda: runs(world), "the tool runs")
        kill_agent(world)

        [error] = outcomes(await finished(client, session_id))
        assert "killed" in error
        assert runs(world) == 1


def agents(world: World) -> list[Path]:
    """The files of the processes of Claude Code that are running."""
    return list((world.home / ".claude" / "sessions").glob("*.json"))


def has_asked_again(world: World) -> bool:
    """Whether the agent was started again, and has asked."""
    return has_said(world, "can_use_tool", "resumed/out")
