"""Automations that run in a hidden session and deliver elsewhere: imported ones and Navi's own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from navi.live.model.access.user import Role
from navi.live.model.scheduling.automation import (
    Automation,
    Category,
    Delivery,
    HiddenSession,
    Run,
    RunState,
    SystemAutomation,
)
from navi.live.model.scheduling.automation_request import AutomationChange
from navi.live.model.scheduling.recall import CallType
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.model.session import Session
from navi.live.runtime import server_files
from navi.live.runtime.app import running
from navi.live.runtime.scheduler import due_loop, job_import
from navi.live.runtime.scheduler.answer_posting import evaluate_response
from navi.live.runtime.settings import AgentSettings, AutomationSettings, Settings
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import background_answers, hidden_sessions
from tests.hand_clock import HandClock
from tests.integration.agents.stand_in import Answer, Call, StandIn, stand_in
from tests.live_world import LOCAL, Start, World

HEARTBEAT = AutomationSettings(heartbeat=True, heartbeat_minutes=30)
DREAM = AutomationSettings(dream=True, dream_at="0 3 * * *")


async def settled(world: World, automation_id: str, count: int = 1) -> list[Run]:
    """Its runs, newest first, once they have ended and their delivery is decided."""

    async def have_ended() -> bool:
        runs = await world.navi.automations.list_runs(LOCAL, automation_id)
        is_open = any(run.state in (RunState.QUEUED, RunState.RUNNING) for run in runs)
        return len(runs) >= count and not is_open

    await world.until(have_ended)
    # The end of a turn is in the store a moment before the services hear of it.
    world.navi.answer_posting.wake()
    await world.navi.answer_posting.wait_until_idle()
    return await world.navi.automations.list_runs(LOCAL, automation_id)


async def looked(world: World, automation_id: str) -> None:
    """Wait until it has looked and found nothing to do."""

    async def has_looked() -> bool:
        automation = await world.navi.automations.get(LOCAL, automation_id)
        return automation.last_status is not None

    await world.until(has_looked)


async def take_over(world: World, **payload: Any) -> str:
    """An hourly job of an older system."""
    job = {
        "id": "old",
        "name": "old job",
        "schedule": {"kind": "every", "everyMs": 3_600_000},
        "payload": {"kind": "agent_turn", "message": "Look. [[say: news]]", **payload},
    }
    text = json.dumps({"version": 1, "jobs": [job]})
    imported = await job_import.import_jobs(world.navi.store, world.clock, text, "UTC", {})
    assert [each.id for each in imported.added] == ["old"]
    return "old"


async def contents(world: World, session: Session) -> list[tuple[str, str]]:
    return [(each.role.value, each.content) for each in await world.messages(session)]


# Jobs of an older system.


@pytest.mark.parametrize("name", ["the id", "plain", "telegram:42"])
async def test_an_older_job_runs_apart_and_its_answer_goes_where_it_says(
    start: Start, name: str
) -> None:
    async with start() as world:
        session = await world.session(name=name)
        other = await world.session(name="other")
        to = {"the id": session.id, "plain": "plain", "telegram:42": "42"}[name]
        job = await take_over(world, channel="telegram", to=to, deliver=True)
        await world.forward(hours=1)

        (run,) = await settled(world, job)

        assert (run.state, run.delivery) == (RunState.TURN_COMPLETED, Delivery.DELIVERED)
        assert run.session_id == "cron:old"
        assert await contents(world, session) == [("assistant", "news")]
        assert await contents(world, other) == []
        (delivered,) = await world.messages(session)
        assert delivered.metadata["automation_run_id"] == run.id
        # Hidden, and yet on record.
        apart = await world.navi.sessions.messages(LOCAL, "cron:old", -1)
        assert [message.role for message in apart] == ["user", "assistant"]
        assert apart[1].id == run.response_message_id
        listed = [each.id for each in await world.navi.sessions.list_sessions(LOCAL)]
        assert sorted(listed) == sorted([session.id, other.id])


@pytest.mark.parametrize(
    "payload",
    [
        {"message": "[[say: NOTHING_TO_REPORT]]", "deliver": True},
        {"message": "[[say: `NOTHING_TO_REPORT`.]]", "deliver": True},
        {"message": "[[say: news]]", "deliver": False},
    ],
)
async def test_an_answer_that_is_not_worth_reading_or_not_requested_is_not_posted(
    start: Start, payload: dict[str, Any]
) -> None:
    async with start() as world:
        session = await world.session()
        job = await take_over(world, to=session.id, **payload)
        await world.forward(hours=1)
        (run,) = await settled(world, job)
        assert (run.state, run.delivery) == (RunState.TURN_COMPLETED, Delivery.NOT_WORTH_IT)
        assert await contents(world, session) == []


async def test_an_answer_that_cannot_be_delivered_is_recorded_with_the_reason(
    start: Start,
) -> None:
    async with start() as world:
        session = await world.session(name="42")
        job = await take_over(world, channel="slack", to="43", deliver=True)
        await world.forward(hours=1)
        (run,) = await settled(world, job)
        assert (run.state, run.delivery) == (RunState.TURN_COMPLETED, Delivery.IMPOSSIBLE)
        assert run.error == "there is no session slack:43"
        assert await contents(world, session) == []
        # The next one is still tried.
        await world.session(name="slack:43")
        await world.forward(hours=1)
        newest, _ = await settled(world, job, 2)
        assert newest.delivery is Delivery.DELIVERED


async def test_the_first_of_several_failures_is_reported_where_the_answers_go(start: Start) -> None:
    async with start() as world:
        session = await world.session()
        script = "[[say: half]] [[fail: no such file]]"
        job = await take_over(world, message=script, to=session.id, deliver=True)
        await world.forward(hours=1)
        (run,) = await settled(world, job)
        assert (run.state, run.delivery) == (RunState.FAILED, Delivery.DELIVERED)
        ((_, text),) = await contents(world, session)
        assert text.startswith("Automation ")
        assert " failed: " in text
        assert "no such file" in text

        await world.forward(hours=1)
        again, _ = await settled(world, job, count=2)
        assert (again.state, again.delivery) == (RunState.FAILED, None)
        assert len(await contents(world, session)) == 1


async def test_an_answer_that_nobody_decided_about_is_delivered_once_by_the_next_server(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver = background_answers.deliver

    def broken(*_: Any) -> bool:
        raise RuntimeError("the process dies here")

    monkeypatch.setattr(background_answers, "deliver", broken)
    async with start() as world:
        session = await world.session()
        job = await take_over(world, to=session.id, deliver=True)
        await world.forward(hours=1)

        async def is_pending() -> bool:
            runs = await world.navi.automations.list_runs(LOCAL, job)
            return [run.delivery for run in runs] == [Delivery.PENDING]

        await world.until(is_pending)
        assert await contents(world, session) == []
    monkeypatch.setattr(background_answers, "deliver", deliver)
    async with start() as first, start() as second:
        await settled(first, job)
        await settled(second, job)
        assert await contents(first, session) == [("assistant", "news")]


async def test_such_a_jobs_session_cannot_be_ended_or_deleted_on_its_own(
    start: Start,
) -> None:
    """Otherwise it would stay due forever, with nowhere to run."""
    async with start() as world:
        job = await take_over(world, deliver=False)
        for session_id in ("cron:old", "cron:heartbeat"):
            with pytest.raises(HiddenSession):
                await world.navi.sessions.remove(LOCAL, session_id)
            with pytest.raises(HiddenSession):
                await world.navi.sessions.kill(LOCAL, session_id)
        await world.forward(hours=1)
        await settled(world, job)
        await world.navi.automations.remove(LOCAL, job)


async def test_a_system_event_can_be_switched_off_and_removed(start: Start) -> None:
    async with start() as world:
        job = await take_over(world, kind="system_event")
        automations = world.navi.automations
        assert (await automations.get(LOCAL, job)).category is Category.SYSTEM
        off = await automations.change(LOCAL, job, AutomationChange(enabled=False))
        assert (off.enabled, off.next_run_at) == (False, None)
        on = await automations.change(LOCAL, job, AutomationChange(enabled=True))
        assert on.next_run_at is not None
        await automations.remove(LOCAL, job)
        assert job not in [each.id for each in await automations.list_automations(LOCAL)]
        # Navi's own are switched by settings that exist.
        for own in ("heartbeat", "dream"):
            with pytest.raises(SystemAutomation) as refused:
                await automations.change(LOCAL, own, AutomationChange(enabled=True))
            assert f"[automations] {own} " in refused.value.hint
            assert own in AutomationSettings.model_fields


async def test_the_session_of_such_a_job_takes_no_recalls_from_its_agent(start: Start) -> None:
    async with start() as world:
        recall = {"call_type": "immediate", "additional_context_message": "Read a.log"}
        script = f"[[tool: schedule_recall | {json.dumps(recall)}]]"
        job = await take_over(world, message=script)
        await world.forward(hours=1)
        await settled(world, job)
        apart = await world.navi.sessions.messages(LOCAL, "cron:old", -1)
        [call] = [call for message in apart for call in message.tool_calls]
        assert call.is_error
        assert "sm automation remove old" in (call.result or "")
        assert await world.navi.recalls.list_recalls(LOCAL, "cron:old") == []


async def test_a_job_that_the_store_refuses_does_not_stop_the_others(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_or_update = hidden_sessions.add_or_update

    def refuse_one(connection: Any, session: Session, automation: Automation, now: Any) -> bool:
        if automation.id == "bad":
            raise OverflowError("date value out of range")
        return add_or_update(connection, session, automation, now)

    monkeypatch.setattr(hidden_sessions, "add_or_update", refuse_one)
    schedule = {"kind": "every", "everyMs": 3_600_000}
    jobs = [
        {"id": each, "schedule": schedule, "payload": {"message": "Look."}}
        for each in ("bad", "good")
    ]
    async with start() as world:
        imported = await job_import.import_jobs(
            world.navi.store, world.clock, json.dumps(jobs), "UTC", {}
        )
    assert [each.id for each in imported.added] == ["good"]
    [refused] = imported.refused
    assert "date value out of range" in refused.reason


async def test_a_running_server_learns_of_imported_jobs_at_once(
    start: Start, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due_loop, "LONGEST_SLEEP", timedelta(hours=1))
    async with start() as world:
        session = await world.session()
        await world.navi.recalls.schedule(
            LOCAL,
            session.id,
            RecallRequest(
                call_type=CallType.IMMEDIATE, additional_context_message="[[say: looked]]"
            ),
        )
        await world.ended(session)
        # Another process, such as `navi import-jobs`.
        store = Store(database_url)
        store.start()
        due_at = int((world.clock.now() - timedelta(seconds=1)).timestamp() * 1000)
        job = {
            "id": "late",
            "schedule": {"kind": "at", "atMs": due_at},
            "payload": {"message": "Look. [[say: news]]"},
            "state": {"nextRunAtMs": due_at},
        }
        await job_import.import_jobs(store, world.clock, json.dumps([job]), "UTC", {})
        await store.close()

        (run,) = await settled(world, "late")

        assert run.state is RunState.TURN_COMPLETED


async def test_such_jobs_never_keep_a_session_from_being_deleted(start: Start) -> None:
    async with start(automations=HEARTBEAT) as world:
        session = await world.session()
        await take_over(world, to=session.id, deliver=True)
        await world.navi.sessions.remove(LOCAL, session.id)


async def test_if_in_doubt_a_person_is_notified() -> None:
    async def yes(task: str, answer: str) -> bool:
        return True

    async def no(task: str, answer: str) -> bool:
        return False

    async def broken(task: str, answer: str) -> bool:
        raise OSError("no network")

    assert await evaluate_response("task", "news", yes)
    assert not await evaluate_response("task", "all as usual", no)
    assert await evaluate_response("task", "news", broken)
    for silent in ("", "  ", "NOTHING_TO_REPORT", "**NOTHING_TO_REPORT**."):
        assert not await evaluate_response("task", silent, yes)


# The heartbeat.


def write_heartbeat(text: str) -> None:
    (server_files.workspace() / "HEARTBEAT.md").write_text(text)


@pytest.mark.parametrize("notes", [None, "", "# Every morning\n\n<!-- nothing\nyet -->\n## Open\n"])
async def test_a_heartbeat_without_tasks_stays_silent_and_costs_no_turn(
    start: Start, notes: str | None
) -> None:
    if notes is not None:
        write_heartbeat(notes)
    async with start(automations=HEARTBEAT) as world:
        session = await world.session()
        await world.forward(minutes=30)
        await looked(world, "heartbeat")
        assert await world.navi.automations.list_runs(LOCAL, "heartbeat") == []
        assert await world.navi.sessions.messages(LOCAL, "cron:heartbeat", -1) == []
        assert await contents(world, session) == []


async def test_what_a_heartbeat_finds_is_posted_in_the_session_last_used(start: Start) -> None:
    write_heartbeat("# Open\n- is the disk full? [[say: the disk is full]]")
    async with start(automations=HEARTBEAT) as world:
        last, other = await world.session(), await world.session()
        for session, turns in ((last, 1), (other, 1), (last, 2)):
            world.clock.move(seconds=1)
            await world.say(session, "hello")
            await world.ended(session, turns)
        await world.forward(minutes=30)
        (run,) = await settled(world, "heartbeat")
        assert run.delivery is Delivery.DELIVERED
        assert "is the disk full?" in str(run.rendered_prompt)
        trigger, _ = await world.navi.sessions.messages(LOCAL, "cron:heartbeat", -1)
        assert trigger.metadata["automation_prompt_ref"] == run.prompt_ref
        assert (await contents(world, last))[-1] == ("assistant", "the disk is full")
        assert len(await contents(world, other)) == 2


async def test_a_heartbeat_with_nothing_to_report_stays_silent(start: Start) -> None:
    write_heartbeat("- is the disk full? [[say: NOTHING_TO_REPORT]]")
    async with start(automations=HEARTBEAT) as world:
        session = await world.session()
        await world.forward(minutes=30)
        (run,) = await settled(world, "heartbeat")
        assert (run.state, run.delivery) == (RunState.TURN_COMPLETED, Delivery.NOT_WORTH_IT)
        assert await contents(world, session) == []


async def test_a_heartbeat_that_nobody_can_read_is_on_record(start: Start) -> None:
    write_heartbeat("- [[say: the disk is full]]")
    async with start(automations=HEARTBEAT) as world:
        await world.forward(minutes=30)
        (run,) = await settled(world, "heartbeat")
        assert run.delivery is Delivery.IMPOSSIBLE
        assert run.error


# The dream.


@asynccontextmanager
async def thinking(
    database_url: str, clock: HandClock, monkeypatch: pytest.MonkeyPatch, *answers: Answer
) -> AsyncIterator[tuple[World, StandIn]]:
    """Navi with a model behind HTTP, so that a test sees what the model receives."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    async with stand_in(*answers) as model:
        agent = AgentSettings(model="anthropic:m", anthropic_base_url=model.url)
        settings = Settings(agent=agent, automations=DREAM)
        async with running(settings, database_url, "token", clock=clock) as navi:
            yield World(navi, server_files.workspace(), clock), model


async def to_the_night(world: World) -> None:
    dream = await world.navi.automations.get(LOCAL, "dream")
    assert dream.next_run_at is not None
    world.clock.moment = dream.next_run_at
    await world.at_rest()


async def test_what_a_dream_remembers_is_known_in_the_next_session_but_to_nobody_else(
    database_url: str, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = {"action": "write", "path": "MEMORY.md", "content": "The log is in /tmp/a.\n"}
    answers = [
        Answer(calls=[Call("c1", "filesystem", json.dumps(arguments))]),
        Answer(text="NOTHING_TO_REPORT"),
        Answer(text="in /tmp/a"),
        Answer(text="I don't know"),
    ]
    async with thinking(database_url, clock, monkeypatch, *answers) as (world, model):
        talk = await world.session(driver="scripted", name="talk")
        await world.say(talk, "the log is in /tmp/a")
        await world.ended(talk)
        await to_the_night(world)
        (run,) = await settled(world, "dream")

        assert (run.state, run.delivery) == (RunState.TURN_COMPLETED, Delivery.NOT_WORTH_IT)
        request = json.dumps(model.requests[0].body)
        assert "[talk] user: the log is in /tmp/a" in request
        assert (server_files.workspace() / "MEMORY.md").read_text() == "The log is in /tmp/a.\n"

        mine = await world.session(driver="builtin")
        await world.say(mine, "where is the log?")
        await world.ended(mine)
        assert "The log is in /tmp/a." in json.dumps(model.last["system"])

        eve, _ = await world.navi.accounts.add("eve", Role.USER)
        hers = await world.navi.sessions.create(eve, driver="builtin", cwd=str(world.folder))
        await world.say(hers, "where is the log?")
        await world.ended(hers)
        assert "where is the log?" in json.dumps(model.last["messages"])
        assert "/tmp/a" not in json.dumps(model.last)


async def test_a_day_without_words_has_no_dream(start: Start) -> None:
    async with start(automations=DREAM) as world:
        session = await world.session()
        await to_the_night(world)
        await looked(world, "dream")
        assert await world.navi.automations.list_runs(LOCAL, "dream") == []
        assert await contents(world, session) == []
