"""What Codex asks a person without a terminal, and what it does with the answers."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import datetime
from typing import Any

import pytest

from navi.live.model.scheduling.reminder import SOFT_TEXT
from tests.acceptance.clients.asking import (
    answer,
    every_question,
    has_said,
    kill_server_while,
    open_questions,
    print_seconds,
    runs,
)
from tests.acceptance.clients.codex import ASKING, RUN, agents, call, escalated, kill_agents
from tests.acceptance.clients.conftest import World, frames_of, outcomes, text_of
from tests.acceptance.contract.conftest import finished
from tests.acceptance.contract.person import Person
from tests.server import Client
from tests.waiting import eventually

COLOURS = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]


def choose(*questions: dict[str, Any]) -> str:
    return call("request_user_input", questions=questions) + " [[say: on we go]]"


def colour(**more: Any) -> dict[str, Any]:
    entry = {"id": "colour", "header": "Colour", "question": "Which colour?", "options": COLOURS}
    return {**entry, **more}


async def session(world: World, client: Client, **fields: Any) -> str:
    return await world.session(client, "codex", **fields)


async def test_a_permission_that_is_allowed_runs_the_command_once(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, "[[think: Hm.]] [[say: first]] " + RUN)
        [question] = await open_questions(client, session_id)
        [output] = (world.home / "navi").rglob("out")
        stored = datetime.fromisoformat(question["created_at"]).timestamp()
        print_seconds("from Codex's question to its row", stored - output.stat().st_mtime)
        assert (question["kind"], question["tool_name"]) == ("permission", "shell")
        assert question["title"] == "May I call shell(echo ran >>count)?"
        assert (question["detail"], question["risk"]) == ("May I count?", "high")
        assert (await client.call("GET", f"/sessions/{session_id}"))["state"] == "waiting"
        assert runs(world) == 0

        await answer(client, question, "allow")

        frames = await finished(client, session_id)
        closed = await client.call("GET", f"/questions/{question['id']}")
        answered = datetime.fromisoformat(closed["answered_at"]).timestamp()
        resumed = (world.work / "count").stat().st_mtime
        print_seconds("from the answer until the command ran", resumed - answered)
        assert outcomes(frames) == ["ok"]
        assert text_of(frames) == "first\n\non we go"
        assert "".join(each["delta"] for each in frames_of(frames, "thinking_delta")) == "Hm.\n"
        [done] = frames_of(frames, "tool_call")
        assert (done["name"], done["is_error"]) == ("shell", False)
        assert runs(world) == 1
        assert not agents(world)


@pytest.mark.proof
async def test_a_denial_is_read_by_the_model_and_the_turn_is_denied(world: World) -> None:
    world.serve(**ASKING)
    world.models.requests.clear()
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        await answer(client, question, "deny", text="[[say: I see.]] not today")

        frames = await finished(client, session_id)
        assert [end["outcome"] for end in frames_of(frames, "stream_end")] == ["denied"]
        assert text_of(frames) == "I see."
        assert frames_of(frames, "tool_call")[0]["is_error"]
        assert was_read(world, "not today")
        assert runs(world) == 0


@pytest.mark.proof
async def test_a_choice_is_answered_by_sm_and_in_words_of_ones_own(world: World) -> None:
    world.serve(**ASKING)
    world.models.requests.clear()
    sizes = {"id": "size", "header": "Size", "question": "How large?\nIn cm.", "options": COLOURS}
    async with world.client() as client:
        session_id = await session(world, client, name="painter")
        await client.say(session_id, choose(colour(), sizes))
        size, first = await open_questions(client, session_id, 2)
        assert (first["title"], first["kind"]) == ("Which colour?", "choice")
        assert [each["label"] for each in first["options"]] == ["Red", "Blue"]
        assert (size["detail"], size["allow_free_text"]) == ("In cm.", True)

        person = Person(world.server)
        person.run("answer", first["id"], "2")
        person.run("answer", size["id"], "As large as it gets")

        frames = await finished(client, session_id)
        assert (outcomes(frames), text_of(frames)) == (["ok"], "on we go")
        assert was_read(world, '"colour":{"answers":["Blue"]}')
        assert was_read(world, '"size":{"answers":["As large as it gets"]}')


@pytest.mark.proof
async def test_a_change_of_files_shows_its_patch_and_is_made_once_allowed(world: World) -> None:
    world.serve(NAVI_CODEX_ARGUMENTS="--sandbox=read-only")
    patch = "*** Begin Patch\n*** Add File: made\n+hello\n*** End Patch"
    async with world.client() as client:
        session_id = await session(world, client)
        command = call("exec_command", cmd=f"apply_patch <<'EOF'\n{patch}\nEOF")
        await client.say(session_id, f"{command} [[say: done]]")
        [question] = await open_questions(client, session_id)
        assert question["title"] == "May I call apply_patch(made)?"
        assert question["tool_input"]["patch"] == patch
        assert not (world.work / "made").exists()
        await answer(client, question, "allow")

        assert outcomes(await finished(client, session_id)) == ["ok"]
        assert (world.work / "made").read_text() == "hello\n"


@pytest.mark.proof
async def test_always_allow_asks_no_second_time(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, escalated("touch made"))
        [question] = await open_questions(client, session_id)
        [rule] = question["suggestions"][0]["rules"]
        assert rule == {"toolName": "shell", "ruleContent": "touch made"}
        await answer(client, question, "allow_always")
        await finished(client, session_id)

        frames = await world.turn(client, session_id, escalated("touch made"), turns=2)

        assert outcomes(frames) == ["ok", "ok"]
        assert len(await every_question(client, session_id)) == 1


@pytest.mark.proof
async def test_a_question_outlives_its_server_and_is_answered_by_the_next(world: World) -> None:
    world.serve(**ASKING)
    world.models.prompts.clear()
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
        frames = await finished(client, session_id)
        assert (outcomes(frames), text_of(frames)) == (["ok"], "on we go")
        assert len(await every_question(client, session_id)) == 1
        assert runs(world) == 1
        assert world.models.prompts.count(RUN) == 1
        [_, step, _] = await client.messages(session_id)
        assert len(step["tool_calls"]) == 1


@pytest.mark.proof
@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_an_answer_whose_server_died_before_handing_it_over_still_arrives(
    world: World, decision: str
) -> None:
    world.serve(**ASKING)
    world.models.requests.clear()
    words = {} if decision == "allow" else {"text": "[[say: on we go]] not today"}
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        await kill_server_while(world, answer(client, question, decision, **words))

    world.server.start()

    async with world.client() as client:
        [same] = await every_question(client, session_id)
        if same["state"] == "open":
            await answer(client, same, decision, **words)
        frames = await finished(client, session_id)
        assert text_of(frames) == "on we go"
        assert runs(world) == (1 if decision == "allow" else 0)
        if decision == "deny":
            assert world.models.requests[-1].count("not today") == 1


@pytest.mark.proof
async def test_codex_killed_while_it_waits_asks_the_same_question_again(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        world.models.otherwise = RUN
        try:
            kill_agents(world)
            await eventually(lambda: has_asked_again(world), "the new Codex asks")
            assert runs(world) == 0
            await answer(client, question, "allow")
            frames = await finished(client, session_id)
        finally:
            world.models.otherwise = ""
        assert (outcomes(frames), text_of(frames)) == (["ok"], "on we go")
        assert len(await every_question(client, session_id)) == 1
        assert runs(world) == 1
        assert not agents(world)


@pytest.mark.proof
async def test_server_and_codex_are_killed_and_the_answer_still_counts(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        kill_agents(world)
        world.server.kill()

    world.models.otherwise = RUN
    try:
        world.server.start()
        async with world.client() as client:
            await answer(client, question, "allow")
            assert outcomes(await finished(client, session_id)) == ["ok"]
            assert len(await every_question(client, session_id)) == 1
            assert runs(world) == 1
    finally:
        world.models.otherwise = ""


@pytest.mark.proof
async def test_codex_killed_while_its_command_runs_is_not_started_again(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, escalated("echo ran >>count; sleep 600"))
        [question] = await open_questions(client, session_id)
        await answer(client, question, "allow")
        await eventually(lambda: runs(world), "the command runs")
        kill_agents(world)

        [error] = outcomes(await finished(client, session_id))
        assert "killed" in error
        assert runs(world) == 1


@pytest.mark.proof
async def test_an_expired_question_is_denied_with_a_message(world: World) -> None:
    world.serve(**ASKING)
    world.models.requests.clear()
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        await open_questions(client, session_id)

    world.server.kill()
    rows(world, "UPDATE questions SET deadline_at = created_at")
    world.server.start()

    async with world.client() as client:
        frames = await finished(client, session_id)
        assert frames_of(frames, "stream_end")[0]["outcome"] == "denied"
        assert was_read(world, "Nobody answered within")
        assert runs(world) == 0


@pytest.mark.proof
@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_the_end_of_a_turn_withdraws_its_question_and_leaves_no_process(
    world: World, end: str
) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        await client.call("POST", f"/sessions/{session_id}/{end}")

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["stopped"]
        assert (await client.call("GET", f"/questions/{question['id']}"))["state"] == "withdrawn"
        await eventually(lambda: not agents(world), "Codex has ended")
        if end == "stop":
            frames = await world.turn(client, session_id, "[[say: on we go]]", turns=2)
            assert outcomes(frames) == ["stopped", "ok"]
        assert runs(world) == 0


@pytest.mark.proof
async def test_a_session_that_denies_asks_nobody_and_its_next_turn_may_ask(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client, on_permission="deny")
        frames = await world.turn(client, session_id, RUN)
        assert frames_of(frames, "stream_end")[0]["outcome"] == "denied"
        assert (await every_question(client, session_id), runs(world)) == ([], 0)

        await client.call("PATCH", f"/sessions/{session_id}", {"on_permission": "ask"})
        await client.say(session_id, RUN)
        [question] = await open_questions(client, session_id)
        await answer(client, question, "allow")
        frames = await finished(client, session_id, 2)

        assert [each["outcome"] for each in frames_of(frames, "stream_end")] == ["denied", "ok"]
        assert runs(world) == 1
        assert len(world.transcripts()) == 1
    assert rows(world, "SELECT output_tokens FROM turns") == [(14,), (14,)]


@pytest.mark.proof
async def test_listed_commands_run_without_a_question_and_others_are_denied(world: World) -> None:
    world.serve(**ASKING, NAVI_QUESTIONS_ALLOW="Bash(touch:*)")
    async with world.client() as client:
        session_id = await session(world, client, on_permission="allow-listed")
        text = f"{escalated('touch made')} {RUN}"
        frames = await world.turn(client, session_id, text)

        assert frames_of(frames, "stream_end")[0]["outcome"] == "denied"
        assert (world.work / "made").exists()
        assert runs(world) == 0
        questions = await every_question(client, session_id)
        assert {each["answered_via"] for each in questions} == {"policy"}


@pytest.mark.proof
async def test_a_soft_nudge_reaches_codex_between_two_tool_calls(world: World) -> None:
    world.serve(**ASKING)
    world.models.requests.clear()
    async with world.client() as client:
        session_id = await session(world, client)
        # Several calls: the turn must not end before the nudge arrives.
        again = "[[bash: sleep 0.3]] " * 5
        steps = f"[[bash: until test -e go; do sleep 0.1; done]] {again} [[say: done]]"
        await client.say(session_id, steps, remind_soft_threshold=1)

        async def waits() -> bool:
            queue = await client.call("GET", f"/sessions/{session_id}/queue")
            return SOFT_TEXT in [each["text"] for each in queue]

        await eventually(waits, "the nudge waits")
        (world.work / "go").touch()

        frames = await finished(client, session_id)
        assert outcomes(frames) == ["ok"]
        messages = await client.messages(session_id)
        assert [each["content"] for each in messages if each["role"] == "user"] == [
            steps,
            SOFT_TEXT,
        ]
        assert was_read(world, SOFT_TEXT)


@pytest.mark.proof
async def test_a_usage_limit_is_known_with_its_reset_and_the_recall_waits_for_it(
    world: World,
) -> None:
    world.serve(**ASKING)
    reset = 1_999_999_999
    headers = {
        "x-codex-primary-used-percent": "100",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-at": str(reset),
    }
    body = {"error": {"type": "usage_limit_reached", "resets_at": reset}}
    task = f"[[error: 429 | {json.dumps({'headers': headers, 'body': body})}]]"
    async with world.client() as client:
        session_id = await session(world, client)
        recall = {"call_type": "once", "when": "now", "additional_context_message": task}
        await client.call("POST", f"/sessions/{session_id}/recall", recall, expect=201)

        assert outcomes(await finished(client, session_id)) == ["limit"]
        [row] = await client.call("GET", "/limits")
        assert (row["account"], row["kind"], row["used_percent"]) == (
            *("codex:local", "five_hour"),
            100,
        )
        assert row["resets_at"].startswith("2033-05-18T03:33:19")
        assert has_said(world, "usageLimitExceeded")


@pytest.mark.proof
async def test_navis_own_tools_need_no_permission_and_long_prompts_arrive(world: World) -> None:
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await session(world, client)
        long = call("report_status", text="half done") + " [[say: done]] \n✓ " + "x" * 200_000
        frames = await world.turn(client, session_id, long)

        assert outcomes(frames) == ["ok"]
        [done] = frames_of(frames, "tool_call")
        assert (done["name"], done["is_error"]) == ("navi.report_status", False)
        assert await every_question(client, session_id) == []
        assert long in world.models.prompts


@pytest.mark.proof
async def test_two_servers_of_one_turn_stream_it_once(world: World) -> None:
    world.serve(**ASKING)
    gate = "app-server-outlives"
    async with world.client() as client:
        session_id = await session(world, client)
        steps = f"[[say: first]] [[bash: echo ran >>count]] [[wait: {gate}]] [[say: last]]"
        await client.say(session_id, steps)
        assert await asyncio.to_thread(world.models.reached[gate].wait, 60)

    world.server.kill()
    world.server.start()
    world.models.gates[gate].set()

    async with world.client() as client:
        frames = await finished(client, session_id)
        assert (outcomes(frames), text_of(frames)) == (["ok"], "first\n\nlast")
        assert runs(world) == 1
        assert len(await client.messages(session_id)) == 3


def rows(world: World, sql: str) -> list[tuple[Any, ...]]:
    """What a statement does to the store, or finds there."""
    with closing(sqlite3.connect(world.home / "navi" / "navi.sqlite3")) as database:
        result = database.execute(sql).fetchall()
        database.commit()
        return result


def has_asked_again(world: World) -> bool:
    """Whether Codex was started again, and has asked."""
    return has_said(world, "requestApproval", "resumed/out")


def was_read(world: World, text: str) -> bool:
    """Whether the model saw the text."""
    return any(json.dumps(text)[1:-1] in each for each in world.models.requests)
