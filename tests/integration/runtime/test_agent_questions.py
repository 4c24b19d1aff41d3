"""Questions of an agent without a terminal: answers arrive once, whoever dies in between."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from navi.live.agents.command_line.agent_environment import Launch
from navi.live.agents.driver import Driver
from navi.live.model.access.caller import Caller
from navi.live.model.question import Decision, Question, QuestionAnswer, QuestionState
from navi.live.model.session import Session
from navi.vendors.claude_code.command_line import ClaudeCodeDriver
from tests.live_world import LOCAL, Start, World
from tests.paths import ROOT
from tests.waiting import eventually

# The agents of a server that is gone work on, and are still this process's children.
pytestmark = pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")

STAND_IN = ROOT / "tests" / "claude_stand_in.py"
ALLOW, DENY = QuestionAnswer(Decision.ALLOW), QuestionAnswer(Decision.DENY, "not today")
DENIAL = {"behavior": "deny", "message": "not today"}
LEASE = {"minutes": 5}
"""Longer than a server that is gone keeps its turns."""


@pytest.fixture
def drivers(tmp_path: Path) -> Iterator[Mapping[str, Driver]]:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    launch = Launch(str(STAND_IN), [], environment, tmp_path / "runs")
    yield {"claude_code": ClaudeCodeDriver(launch)}
    for each in agents(tmp_path):
        each.kill()
    gc.collect()  # while the warning about agents that are still running is ignored


async def ask(world: World, prompt: str) -> tuple[Session, Question]:
    """A session whose agent asks."""
    session = await world.session(driver="claude_code")
    await world.say(session, prompt)
    return session, await open_question(world)


async def open_question(world: World) -> Question:
    async def look() -> list[Question]:
        return await world.navi.questions.list_questions(LOCAL, None, QuestionState.OPEN)

    [question] = await world.until(look)
    return question


async def answer(world: World, question: Question, decision: QuestionAnswer) -> None:
    await world.navi.questions.answer(Caller(LOCAL), question.id, decision, "sm")


async def questions(world: World) -> list[Question]:
    return await world.navi.questions.list_questions(LOCAL)


def ran(world: World) -> list[str]:
    file = world.folder / "ran"
    return file.read_text().split() if file.exists() else []


def kill_agent(folder: Path) -> None:
    """Kill the agent, and wait until it can read nothing more."""
    [agent] = agents(folder)
    agent.kill()
    agent.wait(30)


def agents(folder: Path) -> list[psutil.Process]:
    return [each for each in psutil.process_iter() if _is_agent(each, folder)]


def _is_agent(process: psutil.Process, folder: Path) -> bool:
    try:
        is_stand_in = process.cmdline()[1:2] == [str(STAND_IN)]
        return is_stand_in and process.environ().get("HOME") == str(folder)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def output(folder: Path) -> Path:
    """What the agent has printed."""
    [file] = folder.glob("runs/*/*/out")
    return file


def continuations(folder: Path) -> list[Path]:
    """The runs that continue others."""
    return list(folder.glob("runs/*/*/resumed"))


def request_id(folder: Path) -> str:
    """The agent's id for its question."""
    requests = map(json.loads, output(folder).read_text().splitlines())
    return next(str(each["request_id"]) for each in requests if "request_id" in each)


def deny(folder: Path) -> None:
    """Answer the agent behind the server's back."""
    response = {"request_id": request_id(folder), "response": DENIAL}
    with (output(folder).parent / "answers").open("w") as fifo:
        fifo.write(json.dumps({"type": "control_response", "response": response}) + "\n")


async def test_each_call_waits_for_its_own_answer(
    start: Start, drivers: Mapping[str, Driver]
) -> None:
    async with start(drivers=drivers) as world:
        session, first = await ask(world, "one two")
        await answer(world, first, ALLOW)
        second = await open_question(world)
        assert second.tool_input == {"word": "two"}
        await answer(world, second, DENY)

        await world.outcomes(session, 1)
        assert ran(world) == ["one"]


async def test_changed_input_of_any_length_arrives(
    start: Start, drivers: Mapping[str, Driver]
) -> None:
    word = "x" * 3_000_000
    async with start(drivers=drivers) as world:
        session, question = await ask(world, "one")
        changed = QuestionAnswer(Decision.ALLOW, updated_input={"word": word})
        await answer(world, question, changed)

        assert await world.outcomes(session, 1) == ["ok"]
        assert ran(world) == [word]


async def test_an_answer_that_came_while_no_server_ran_the_turn_is_handed_over_by_the_next(
    start: Start, drivers: Mapping[str, Driver]
) -> None:
    async with start(drivers=drivers) as world:
        session, question = await ask(world, "one")
    async with start() as world:
        await answer(world, question, ALLOW)
        assert ran(world) == []
    async with start(drivers=drivers) as world:
        await world.forward(**LEASE)

        assert await world.outcomes(session, 1) == ["ok"]
        assert ran(world) == ["one"]
        assert len(await questions(world)) == 1


@pytest.mark.parametrize("is_server_gone", [False, True])
async def test_an_agent_that_was_killed_asks_the_same_question_again(
    start: Start, drivers: Mapping[str, Driver], is_server_gone: bool
) -> None:
    async with start(drivers=drivers) as world:
        session, first = await ask(world, "one two")
        await answer(world, first, ALLOW)
        question = await open_question(world)
        if not is_server_gone:
            kill_agent(world.folder)
            await finish(world, session, question)
            return
    kill_agent(world.folder)
    async with start(drivers=drivers) as world:
        await world.forward(**LEASE)
        await finish(world, session, question)


async def finish(world: World, session: Session, question: Question) -> None:
    """Answer the question once it was asked again, and check that all was done once."""

    def has_asked_again() -> bool:
        outputs = world.folder.glob("runs/*/*/resumed/out")
        return any("can_use_tool" in each.read_text() for each in outputs)

    await eventually(has_asked_again, "the new agent asks")  # which is no event
    assert (await open_question(world)).id == question.id
    await answer(world, question, ALLOW)
    assert await world.outcomes(session, 1) == ["ok"]
    assert ran(world) == ["one", "two"]
    assert len(await questions(world)) == 2


async def test_an_answer_given_while_neither_server_nor_agent_ran_still_counts(
    start: Start, drivers: Mapping[str, Driver]
) -> None:
    async with start(drivers=drivers) as world:
        session, question = await ask(world, "one")
    kill_agent(world.folder)
    async with start() as world:
        await answer(world, question, ALLOW)
    async with start(drivers=drivers) as world:
        await world.forward(**LEASE)

        assert await world.outcomes(session, 1) == ["ok"]
        assert ran(world) == ["one"]
        assert len(await questions(world)) == 1


@pytest.mark.parametrize("is_server_gone", [False, True])
async def test_an_agent_that_ended_until_a_person_decides_is_started_again_once(
    start: Start, drivers: Mapping[str, Driver], is_server_gone: bool
) -> None:
    async with start(drivers=drivers) as world:
        session, question = await ask(world, "later one")
        await eventually(lambda: not agents(world.folder), "the agent has ended")
        assert ran(world) == []
        if not is_server_gone:
            await finish_after_deferral(world, session, question)
            return
    async with start(drivers=drivers) as world:
        await world.forward(**LEASE)
        await finish_after_deferral(world, session, question)


async def finish_after_deferral(world: World, session: Session, question: Question) -> None:
    await answer(world, question, ALLOW)
    await answer(world, await open_question(world), ALLOW)
    assert await world.outcomes(session, 1) == ["ok"]
    assert ran(world) == ["later", "one"]
    assert len(await questions(world)) == 2


async def test_a_stopped_turn_starts_no_agent_that_has_ended(
    start: Start, drivers: Mapping[str, Driver], tmp_path: Path
) -> None:
    async with start(drivers=drivers) as world:
        session, question = await ask(world, "later")
        await eventually(lambda: not agents(tmp_path), "the agent has ended")
        await world.navi.sessions.stop(LOCAL, session.id)

        assert await world.outcomes(session, 1) == ["stopped"]
        closed = await world.navi.questions.get(LOCAL, question.id)
        assert closed.state is QuestionState.WITHDRAWN
        assert not continuations(tmp_path)


async def test_an_agent_that_may_have_read_its_answer_is_not_started_again(
    start: Start, drivers: Mapping[str, Driver], tmp_path: Path
) -> None:
    async with start(drivers=drivers) as world:
        session, _ = await ask(world, "one")
    (output(tmp_path).parent / "answered").write_text(request_id(tmp_path) + "\n")
    kill_agent(tmp_path)
    async with start(drivers=drivers) as world:
        await world.forward(**LEASE)

        assert await world.outcomes(session, 1) == ["error"]
        assert ran(world) == []


async def test_a_stopped_turn_ends_its_waiting_agent_and_withdraws_the_question(
    start: Start, drivers: Mapping[str, Driver]
) -> None:
    async with start(drivers=drivers) as world:
        session, question = await ask(world, "one")
        await world.navi.sessions.stop(LOCAL, session.id)

        assert await world.outcomes(session, 1) == ["stopped"]
        closed = await world.navi.questions.get(LOCAL, question.id)
        assert closed.state is QuestionState.WITHDRAWN
        assert ran(world) == []


async def test_an_agent_that_is_killed_after_its_result_has_done_its_turn(
    start: Start, drivers: Mapping[str, Driver], tmp_path: Path
) -> None:
    async with start(drivers=drivers) as world:
        session, _ = await ask(world, "one")
    deny(tmp_path)
    await eventually(lambda: '"type": "result"' in output(tmp_path).read_text(), "its result")
    kill_agent(tmp_path)
    async with start(drivers=drivers) as world:
        await world.forward(**LEASE)

        assert await world.outcomes(session, 1) == ["ok"]
