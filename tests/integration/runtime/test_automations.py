from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from navi.base.errors import InvalidInput, NotYours, SessionNotFound
from navi.base.time_expressions import describe_moment
from navi.base.timestamps import EPOCH, instant
from navi.live.agents.driver import Driver, TurnRequest
from navi.live.model.access.user import Role, User
from navi.live.model.event import TextDelta, ToolFinished, ToolStarted, TurnEvent, Usage
from navi.live.model.scheduling.automation import (
    Automation,
    AutomationNotFound,
    BlockedByAutomations,
    RunState,
    SystemAutomation,
    plan,
)
from navi.live.model.scheduling.automation_request import AutomationChange, AutomationRequest
from navi.live.model.scheduling.schedule import At
from navi.live.model.session import Session
from navi.live.model.validation import validate
from navi.live.runtime.settings import AutomationSettings
from navi.live.store.due import due_automations
from tests.live_world import LOCAL, LONG, Start, World

TASK = "Look at error.log. [[say: all quiet]]"


async def add(world: World, session: Session, **fields: Any) -> Automation:
    values = {"name": "monitor", "message": TASK, **fields}
    if not values.keys() & {"at", "cron_expr"}:
        values.setdefault("every_seconds", 3600)
    request = validate(AutomationRequest, values)
    return await world.navi.automations.add(LOCAL, session.id, request)


async def now_of(world: World, automation: Automation) -> Automation:
    return await world.navi.automations.get(LOCAL, automation.id)


async def runs(world: World, automation: Automation) -> list[tuple[str, int]]:
    listed = await world.navi.automations.list_runs(LOCAL, automation.id)
    return [(run.state.value, run.missed_count) for run in listed]


async def until_state(world: World, automation: Automation, *states: str) -> None:
    """Wait until its runs, newest first, are in these states."""

    async def are_so() -> bool:
        return [state for state, _ in await runs(world, automation)] == list(states)

    await world.until(are_so)


async def test_a_run_is_a_turn_of_its_session(world: World) -> None:
    session = await world.session()
    automation = await add(world, session)
    await world.forward(hours=1)

    assert await world.outcomes(session, 1) == ["ok"]
    trigger, answer = await world.messages(session)
    [run] = await world.navi.automations.list_runs(LOCAL, automation.id)

    assert trigger.role == "user"
    assert trigger.content == f"Scheduled automation triggered: monitor\n\n{TASK}"
    reference = trigger.metadata["automation_prompt_ref"]
    assert trigger.metadata["_automation_trigger"] is True
    assert trigger.metadata["automation_id"] == automation.id
    assert trigger.metadata["automation_name"] == "monitor"
    assert trigger.metadata["automation_run_id"] == run.id
    milliseconds = int(run.due_at.timestamp() * 1000)
    assert run.id == f"{automation.id}:{milliseconds}"
    assert (answer.content, answer.source) == ("all quiet", "automation")
    assert answer.metadata["automation_run_id"] == run.id

    assert run.state is RunState.TURN_COMPLETED
    assert run.response_message_id == answer.id
    assert (reference["id"], reference["version"]) == ("cron.agent_turn.reminder", 1)
    assert run.rendered_prompt is not None
    assert run.prompt_variables is not None
    assert reference["sha256"] == hashlib.sha256(run.rendered_prompt.encode()).hexdigest()
    assert run.prompt_variables["message"] == TASK


async def test_the_raw_prompt_is_not_in_the_transcript(world: World) -> None:
    session = await world.session()
    automation = await add(world, session)
    await world.forward(hours=1)
    await world.ended(session)
    [run] = await world.navi.automations.list_runs(LOCAL, automation.id)
    assert run.rendered_prompt is not None
    assert "Nobody is waiting at the keyboard" in run.rendered_prompt
    for message in await world.messages(session):
        assert "Nobody is waiting" not in f"{message.content} {message.metadata}"


async def test_its_state_is_the_outcome_of_the_turn_and_only_after_it(world: World) -> None:
    session = await world.session()
    automation = await add(world, session, message=LONG)
    await world.forward(hours=1)
    await world.started(session)

    running = await now_of(world, automation)
    assert (running.last_status, running.last_run_at) == (None, None)
    assert await runs(world, automation) == [("running", 0)]

    await world.navi.sessions.stop(LOCAL, session.id)
    await until_state(world, automation, "cancelled")
    assert (await now_of(world, automation)).last_status == "cancelled"


async def test_a_failing_turn_is_recorded_in_full_and_reported_briefly(world: World) -> None:
    session = await world.session()
    automation = await add(world, session, message="[[say: looking]] [[fail: no such file]]")
    await world.forward(hours=1)

    assert await world.outcomes(session, 1) == ["error"]
    [run] = await world.navi.automations.list_runs(LOCAL, automation.id)
    assert run.state is RunState.FAILED
    assert run.error is not None
    assert "Traceback" in run.error
    assert "no such file" in run.error
    failed = await now_of(world, automation)
    assert (failed.last_status, failed.failures_in_row) == ("error", 1)
    assert failed.last_error is not None
    assert "no such file" in failed.last_error

    contents = [message.content for message in await world.messages(session)]
    assert contents[1] == "looking"
    assert contents[2].startswith("(failed: ")
    assert "Traceback" not in str([m.metadata for m in await world.messages(session)]) + contents[2]


class Silent(Driver):
    """An agent that uses a tool and says nothing."""

    async def turn(self, request: TurnRequest) -> AsyncGenerator[TurnEvent | Usage, None]:
        yield ToolStarted("1", "terminal", {})
        yield ToolFinished("1", "terminal", {}, "fine", is_error=False)

    async def aclose(self) -> None:
        pass


async def test_an_empty_result_ends_visibly(start: Start) -> None:
    async with start(drivers={"scripted": Silent()}) as world:
        session = await world.session()
        await add(world, session)
        await world.forward(hours=1)
        await world.ended(session)
        last = (await world.messages(session))[-1]
        assert last.content == "(finished with nothing to report)"


async def test_a_run_waits_for_the_active_turn_which_does_not_see_it(world: World) -> None:
    session = await world.session()
    automation = await add(world, session)
    await world.say(session, LONG)
    await world.started(session)
    await world.forward(hours=1)
    assert await runs(world, automation) == [("queued", 0)]
    await world.navi.sessions.stop(LOCAL, session.id)

    assert await world.outcomes(session, 2) == ["stopped", "ok"]
    contents = [message.content for message in await world.messages(session)]
    assert contents[1:] == [
        "(stopped)",
        f"Scheduled automation triggered: monitor\n\n{TASK}",
        "all quiet",
    ]


async def test_two_deferred_automations_run_in_order(world: World) -> None:
    session = await world.session()
    await add(world, session, name="second", message="[[say: 2]]", every_seconds=1200)
    await add(world, session, name="first", message="[[say: 1]]", every_seconds=600)
    await world.say(session, LONG)
    await world.started(session)
    await world.forward(minutes=10)
    assert len(await world.navi.sessions.queue(LOCAL, session.id)) == 1
    await world.forward(minutes=10)
    assert len(await world.navi.sessions.queue(LOCAL, session.id)) == 2
    await world.navi.sessions.stop(LOCAL, session.id)
    await world.ended(session, 3)
    assert [m.content for m in await world.messages(session)][3::2] == ["1", "2"]


async def test_a_busy_session_does_not_delay_another(world: World) -> None:
    busy, free = await world.session(), await world.session()
    await world.say(busy, LONG)
    await world.started(busy)
    waiting, running = await add(world, busy), await add(world, free)
    await world.forward(hours=1)
    await until_state(world, running, "turn_completed")
    assert await runs(world, waiting) == [("queued", 0)]


async def test_removing_it_while_a_run_waits_cancels_the_run(world: World) -> None:
    session = await world.session()
    automation = await add(world, session)
    await world.say(session, LONG)
    await world.started(session)
    await world.forward(hours=1)
    assert await runs(world, automation) == [("queued", 0)]
    [run] = await world.navi.automations.list_runs(LOCAL, automation.id)

    await world.navi.automations.remove(LOCAL, automation.id)

    assert await world.navi.sessions.queue(LOCAL, session.id) == []
    assert (await world.navi.automations.get_run(LOCAL, run.id)).state is RunState.CANCELLED
    with pytest.raises(AutomationNotFound):
        await now_of(world, automation)
    await world.navi.sessions.stop(LOCAL, session.id)
    await world.say(session, "hello")
    await world.ended(session, 2)
    assert [m.source for m in await world.messages(session)] == ["user"] * 4


async def test_switching_it_off_stops_the_run_that_waits_and_all_others(world: World) -> None:
    session = await world.session()
    automation = await add(world, session)
    await world.say(session, LONG)
    await world.started(session)
    await world.forward(hours=1)
    assert await runs(world, automation) == [("queued", 0)]

    off = await world.navi.automations.change(LOCAL, automation.id, AutomationChange(enabled=False))
    assert (off.enabled, off.next_run_at) == (False, None)
    assert await runs(world, automation) == [("cancelled", 0)]
    await world.navi.sessions.stop(LOCAL, session.id)
    await world.forward(hours=5)
    await world.say(session, "hello")
    await world.ended(session, 2)
    assert await runs(world, automation) == [("cancelled", 0)]

    on = await world.navi.automations.change(LOCAL, automation.id, AutomationChange(enabled=True))
    assert on.next_run_at is not None
    assert on.next_run_at > world.clock.now()


async def test_a_person_who_takes_the_run_out_of_the_queue_cancels_it(world: World) -> None:
    session = await world.session()
    automation = await add(world, session)
    await world.say(session, LONG)
    await world.started(session)
    await world.forward(hours=1)
    assert await runs(world, automation) == [("queued", 0)]
    [waiting] = await world.navi.sessions.queue(LOCAL, session.id)
    await world.navi.sessions.remove_input(LOCAL, session.id, waiting.id)
    assert await runs(world, automation) == [("cancelled", 0)]
    assert (await now_of(world, automation)).enabled


async def test_deleting_its_session_is_blocked_until_confirmed(world: World) -> None:
    session = await world.session()
    kept = await add(world, session, name="daily monitor")
    world.clock.move(seconds=1)
    off = await add(world, session, name="weekly")
    await world.navi.automations.change(LOCAL, off.id, AutomationChange(enabled=False))

    with pytest.raises(BlockedByAutomations) as blocked:
        await world.navi.sessions.remove(LOCAL, session.id)

    named = [(each.id, each.name, each.enabled) for each in blocked.value.automations]
    assert named == [(kept.id, "daily monitor", True), (off.id, "weekly", False)]
    # It was not affected.
    assert (await world.navi.sessions.get(LOCAL, session.id)).state == "idle"

    await world.navi.sessions.remove(LOCAL, session.id, with_automations=True)
    with pytest.raises(SessionNotFound):
        await world.navi.sessions.get(LOCAL, session.id)
    assert kept.id not in [each.id for each in await world.navi.automations.list_automations(LOCAL)]
    await world.forward(hours=2)


async def test_system_automations_never_block_and_cannot_be_changed(world: World) -> None:
    session = await world.session()
    await world.navi.sessions.remove(LOCAL, session.id)
    listed = {each.id: each for each in await world.navi.automations.list_automations(LOCAL)}
    assert {"heartbeat", "dream"} <= listed.keys()
    assert not listed["heartbeat"].enabled
    with pytest.raises(SystemAutomation):
        await world.navi.automations.change(LOCAL, "heartbeat", AutomationChange(enabled=True))
    with pytest.raises(SystemAutomation):
        await world.navi.automations.remove(LOCAL, "dream")
    assert await world.navi.sessions.list_sessions(LOCAL) == []


async def test_an_ended_session_ends_its_automations(world: World) -> None:
    session = await world.session()
    automation = await add(world, session)
    await world.navi.sessions.kill(LOCAL, session.id)
    ended = await now_of(world, automation)
    assert (ended.enabled, ended.ended, ended.next_run_at) == (False, "session_ended", None)


async def test_at_fires_once_even_after_a_restart(start: Start) -> None:
    async with start() as first:
        session = await first.session()
        automation = await add(first, session, at="1h")
        await first.forward(hours=1)
        await until_state(first, automation, "turn_completed")
        done = await now_of(first, automation)
        assert (done.enabled, done.ended, done.next_run_at) == (False, "done", None)
    async with start() as second:
        await second.forward(hours=3)
        assert await runs(second, automation) == [("turn_completed", 0)]


async def test_listing_while_it_runs_does_not_make_it_run_twice(world: World) -> None:
    session = await world.session()
    automation = await add(world, session, message=LONG)
    await world.forward(hours=1)
    await world.started(session)
    for _ in range(10):
        await world.navi.automations.list_automations(LOCAL, session.id)
        await world.at_rest()
    assert await runs(world, automation) == [("running", 0)]
    await world.navi.sessions.stop(LOCAL, session.id)
    await world.at_rest()
    assert await runs(world, automation) == [("cancelled", 0)]


@pytest.mark.parametrize(
    ("catch_up", "states"),
    [
        ("once", [("turn_completed", 4)]),
        ("skip", [("missed", 5)]),
        ("all", [("turn_completed", 0)] * 5),
    ],
)
async def test_what_was_missed_while_no_server_ran_is_caught_up_as_configured(
    start: Start, catch_up: str, states: list[tuple[str, int]]
) -> None:
    async with start() as world:
        session = await world.session()
        automation = await add(world, session, catch_up=catch_up)
    world.clock.move(hours=5, minutes=10)
    async with start() as world:
        await until_state(world, automation, *(state for state, _ in states))
        assert await runs(world, automation) == states
        current = await now_of(world, automation)
        assert current.next_run_at == automation.created_at + timedelta(hours=6)
        assert current.missed_count == sum(missed for _, missed in states)
    if catch_up == "once":
        [run] = await _runs_of(start, automation)
        assert "Earlier occurrences that were missed: 4" in str(run.rendered_prompt)
        assert "(10 minutes late)" in str(run.rendered_prompt)


async def _runs_of(start: Start, automation: Automation) -> list[Any]:
    async with start() as world:
        return await world.navi.automations.list_runs(LOCAL, automation.id)


async def test_it_never_overlaps_with_itself(world: World) -> None:
    session = await world.session()
    automation = await add(world, session, message=LONG)
    await world.forward(hours=1)
    await world.started(session)
    await world.forward(hours=2)
    assert (await now_of(world, automation)).missed_count == 2
    assert await runs(world, automation) == [("running", 2)]


async def test_missed_runs_do_not_count_as_its_last_run(world: World) -> None:
    session = await world.session()
    automation = await add(world, session, message=LONG, max_runs=2)
    await world.forward(hours=1)
    await world.started(session)
    await world.forward(hours=1)
    skipping = await now_of(world, automation)
    assert (skipping.missed_count, skipping.enabled) == (1, True)
    await world.navi.sessions.stop(LOCAL, session.id)
    await world.forward(hours=1)
    await until_state(world, automation, "running", "cancelled")
    assert (await now_of(world, automation)).ended is None
    await world.navi.sessions.stop(LOCAL, session.id)
    assert (await now_of(world, automation)).ended == "done"


async def test_when_all_are_caught_up_each_run_waits_for_the_one_before(world: World) -> None:
    session = await world.session()
    automation = await add(world, session, message=LONG, catch_up="all")
    await world.forward(hours=1)
    await world.started(session)
    await world.forward(hours=1)
    assert (await now_of(world, automation)).held_at is not None
    await world.navi.sessions.stop(LOCAL, session.id)
    await until_state(world, automation, "running", "cancelled")


async def test_it_ends_after_max_runs_and_when_it_expires(world: World) -> None:
    session = await world.session()
    counted = await add(world, session, name="counted", max_runs=2)
    limited = await add(world, session, name="limited", expires_at="90m")
    await world.forward(hours=1)
    await until_state(world, counted, "turn_completed")
    await until_state(world, limited, "turn_completed")
    assert (await now_of(world, limited)).ended == "expired"
    await world.forward(hours=1)
    await until_state(world, counted, "turn_completed", "turn_completed")
    assert (await now_of(world, counted)).ended == "done"
    assert not (await now_of(world, counted)).enabled


async def test_failures_in_a_row_switch_it_off_and_the_session_is_told(world: World) -> None:
    session = await world.session()
    automation = await add(world, session, message="[[fail: no]]", max_failures=2)
    await world.forward(hours=1)
    await until_state(world, automation, "failed")
    await world.forward(hours=1)
    await until_state(world, automation, "failed", "failed")

    off = await now_of(world, automation)
    assert (off.enabled, off.ended, off.failures_in_row) == (False, "failed", 2)
    notice = (await world.messages(session))[-1]
    assert notice.role == "system"
    assert "failed 2 times in a row" in notice.content
    assert notice.metadata["automation_id"] == automation.id
    assert "_automation_trigger" not in notice.metadata
    frames = await world.ended(session, 2)
    assert [frame["message"]["id"] for frame in frames if frame["type"] == "message_added"] == [
        notice.id
    ]
    # The conversation continues and remembers the run.
    await world.say(session, "hello")
    await world.ended(session, 3)
    assert (await world.messages(session))[-1].content == "ok: hello"


async def test_a_run_that_takes_too_long_is_ended(world: World) -> None:
    session = await world.session()
    automation = await add(world, session, message=LONG, time_limit_seconds=1)
    await world.forward(hours=1)
    assert await world.outcomes(session, 1) == ["error"]
    assert (await world.messages(session))[-1].content == (
        "(failed: the turn took longer than 1 s and was ended)"
    )
    assert (await now_of(world, automation)).last_status == "error"


async def test_only_the_last_runs_stay_on_record(start: Start) -> None:
    async with start(automations=AutomationSettings(keep_runs=2)) as world:
        session = await world.session()
        automation = await add(world, session)
        for number in range(1, 5):
            await world.forward(hours=1)
            await world.ended(session, number)
        assert await runs(world, automation) == [("turn_completed", 0)] * 2
        assert (await now_of(world, automation)).run_count == 4


async def test_an_automation_that_one_process_adds_may_fire_in_another(start: Start) -> None:
    async with start() as one:
        session = await one.session()
        automation = await add(one, session, at="1h")
        async with start() as two:
            await one.navi.scheduler.stop()
            await two.forward(hours=1)
            await until_state(two, automation, "turn_completed")


async def test_an_agent_sees_times_in_the_zone_of_the_schedule_or_in_the_one_that_it_names(
    world: World,
) -> None:
    session = await world.session()
    made = await add(world, session, cron_expr="0 9 * * *", tz="Asia/Tokyo")
    in_tokyo, in_kolkata = (
        describe_moment(made.next_run_at or EPOCH, ZoneInfo(name))
        for name in ("Asia/Tokyo", "Asia/Kolkata")
    )
    await world.say(
        session,
        '[[tool: cron | {"action": "list"}]] '
        '[[tool: cron | {"action": "list", "tz": "Asia/Kolkata"}]]',
    )
    await world.ended(session)
    own, named = [call for each in await world.messages(session) for call in each.tool_calls]
    assert in_tokyo in (own.result or "")
    assert in_kolkata in (named.result or "")


@pytest.mark.parametrize(
    "fields",
    [
        {"name": " "},
        {"message": " "},
        {"every_seconds": 9},
        {"every_seconds": None},
        {"cron_expr": "0 9 * * *", "every_seconds": 60},
        {"cron_expr": "61 9 * * *"},
        {"cron_expr": "0 9 * *"},
        {"cron_expr": "0 0 30 2 *"},
        {"cron_expr": "0 9 * * *", "tz": "Mars/Olympus"},
        {"every_seconds": 60, "tz": "Mars/Olympus"},
        {"at": "2020-01-01T00:00:00Z"},
        {"at": "2h", "tz": "Mars/Olympus"},
        {"catch_up": "sometimes"},
        {"max_runs": 0},
        {"expires_at": "30m"},
    ],
)
async def test_an_invalid_automation_is_refused_with_a_hint_and_not_stored(
    world: World, fields: dict[str, Any]
) -> None:
    session = await world.session()
    with pytest.raises(InvalidInput) as refusal:
        await add(world, session, **fields)
    assert refusal.value.hint
    assert await world.navi.automations.list_automations(LOCAL, session.id) == []


async def test_other_users_automations_cannot_be_seen_or_touched(world: World) -> None:
    session = await world.session()
    automation = await add(world, session)
    stranger = User("eve", Role.USER, datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(NotYours):
        await world.navi.automations.get(stranger, automation.id)
    with pytest.raises(NotYours):
        await world.navi.automations.remove(stranger, automation.id)
    with pytest.raises(NotYours):
        await world.navi.automations.list_automations(stranger, session.id)
    assert await world.navi.automations.list_automations(stranger) == []


class Parrot(Driver):
    """An agent that answers with its history and its prompt."""

    async def turn(self, request: TurnRequest) -> AsyncGenerator[TurnEvent | Usage, None]:
        history = " / ".join(message.content for message in request.history)
        yield TextDelta(f"I knew: {history}; I was told: {request.prompt}")

    async def aclose(self) -> None:
        pass


async def test_the_run_reads_what_was_said_and_the_next_turn_sees_the_run(start: Start) -> None:
    async with start(drivers={"scripted": Parrot()}) as world:
        session = await world.session()
        await world.say(session, "the log is in /tmp/a")
        await world.ended(session, 1)
        await add(world, session, message="look there")
        await world.forward(hours=1)
        await world.ended(session, 2)
        history, prompt = (await world.messages(session))[-1].content.rsplit("; I was told: ", 1)
        assert "the log is in /tmp/a" in history
        assert "look there" in prompt
        assert "Nobody is waiting at the keyboard" in prompt

        await world.say(session, "and now?")
        await world.ended(session, 3)
        history, prompt = (await world.messages(session))[-1].content.rsplit("; I was told: ", 1)
        assert "Scheduled automation triggered: monitor\n\nlook there" in history
        assert prompt == "and now?"


async def test_an_occurrence_runs_once_even_if_the_clock_is_set_back(world: World) -> None:
    session = await world.session()
    automation = await add(world, session, cron_expr="0 * * * *", tz="UTC")
    assert automation.next_run_at is not None
    world.clock.moment = automation.next_run_at
    await world.at_rest()
    await until_state(world, automation, "turn_completed")
    await world.forward(minutes=-30)
    again = await world.navi.automations.change(
        LOCAL, automation.id, AutomationChange(enabled=True)
    )
    assert again.next_run_at == automation.next_run_at
    await world.forward(minutes=30)
    assert (await now_of(world, automation)).next_run_at != automation.next_run_at
    assert await runs(world, automation) == [("turn_completed", 0)]


async def test_an_automation_that_cannot_be_planned_is_switched_off_and_the_others_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await world.session()
    broken = await add(world, session, name="broken")
    sound = await add(world, session, name="sound")

    def fails_for_one(automation: Automation, now: datetime) -> Any:
        if automation.id == broken.id:
            raise ValueError("there is no such zone")
        return plan(automation, now)

    monkeypatch.setattr(due_automations, "plan", fails_for_one)
    await world.forward(hours=1)
    await until_state(world, sound, "turn_completed")
    given_up = await now_of(world, broken)
    assert (given_up.enabled, given_up.ended, given_up.last_status) == (False, "failed", "error")
    assert given_up.last_error == "ValueError: there is no such zone"


async def test_a_new_schedule_makes_one_that_has_ended_wait_again(world: World) -> None:
    session = await world.session()
    once = await add(world, session, at="now")
    await until_state(world, once, "turn_completed")
    change = world.navi.automations.change
    assert (await now_of(world, once)).ended == "done"
    again = await change(LOCAL, once.id, AutomationChange(at="1h"))
    assert (again.enabled, again.ended) == (True, None)
    assert again.next_run_at is not None
    await world.forward(hours=1)
    await until_state(world, once, "turn_completed", "turn_completed")


async def test_an_automation_that_a_person_paused_stays_paused_with_a_new_schedule(
    world: World,
) -> None:
    paused = await add(world, await world.session())
    change = world.navi.automations.change
    await change(LOCAL, paused.id, AutomationChange(enabled=False))
    changed = await change(LOCAL, paused.id, AutomationChange(every_seconds=60))
    assert (changed.enabled, changed.next_run_at) == (False, None)


async def test_an_automation_that_has_run_for_the_last_time_is_not_silently_revived(
    world: World,
) -> None:
    last = await add(world, await world.session(), max_runs=1)
    await world.forward(hours=1)
    await until_state(world, last, "turn_completed")
    change = world.navi.automations.change
    with pytest.raises(InvalidInput) as refused:
        await change(LOCAL, last.id, AutomationChange(every_seconds=60))
    assert "raise max_runs" in refused.value.hint
    revived = await change(LOCAL, last.id, AutomationChange(every_seconds=60, max_runs=2))
    assert revived.next_run_at is not None


async def test_what_is_not_a_new_time_leaves_the_next_run_where_it_is(world: World) -> None:
    session = await world.session()
    hourly = await add(world, session)
    once = await add(world, session, at="2h")
    assert isinstance(once.schedule, At)
    await world.forward(minutes=20)
    change = world.navi.automations.change
    for automation, again in (
        (hourly, AutomationChange(every_seconds=3600)),
        (once, AutomationChange(at=instant(once.schedule.at))),
        (once, AutomationChange(at=instant(once.schedule.at), tz=once.schedule.tz)),
        (hourly, AutomationChange(max_runs=9, time_limit_seconds=60)),
        (hourly, AutomationChange(name="renamed")),
    ):
        changed = await change(LOCAL, automation.id, again)
        assert (changed.schedule, changed.next_run_at) == (
            automation.schedule,
            automation.next_run_at,
        )


@pytest.mark.parametrize("ending", ["name", "message", "same time"])
async def test_an_automation_that_has_ended_can_be_renamed_and_reworded(
    world: World, ending: str
) -> None:
    once = await add(world, await world.session(), at="now")
    assert isinstance(once.schedule, At)
    await until_state(world, once, "turn_completed")
    changes = {
        "name": AutomationChange(name="x"),
        "message": AutomationChange(message="y"),
        "same time": AutomationChange(name="x", at=instant(once.schedule.at)),
    }
    changed = await world.navi.automations.change(LOCAL, once.id, changes[ending])
    assert (changed.enabled, changed.ended, changed.next_run_at) == (False, "done", None)


async def test_a_time_that_has_passed_is_sent_again_in_the_zone_of_a_form(world: World) -> None:
    once = await add(world, await world.session(), at="now")
    assert isinstance(once.schedule, At)
    await until_state(world, once, "turn_completed")
    zone = ZoneInfo("Asia/Tokyo")
    local_time = once.schedule.at.astimezone(zone).replace(tzinfo=None).isoformat()
    change = AutomationChange(name="x", at=local_time, tz=zone.key)
    changed = await world.navi.automations.change(LOCAL, once.id, change)
    assert changed.schedule == At(once.schedule.at, zone.key)
    assert (changed.name, changed.enabled, changed.ended) == ("x", False, "done")


async def test_only_its_owner_sees_the_runs_of_a_removed_automation(world: World) -> None:
    once = await add(world, await world.session(), at="now")
    await until_state(world, once, "turn_completed")
    await world.navi.automations.remove(LOCAL, once.id)
    assert len(await world.navi.automations.list_runs(LOCAL, once.id)) == 1
    stranger = User("eve", Role.USER, LOCAL.created_at)
    with pytest.raises(NotYours):
        await world.navi.automations.list_runs(stranger, once.id)
    with pytest.raises(AutomationNotFound):
        await world.navi.automations.list_runs(LOCAL, "nobody")
