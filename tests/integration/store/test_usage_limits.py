from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from navi.base.errors import NotAllowed
from navi.base.ids import new_id
from navi.live.model.access.user import LOCAL_USER_ID, Role, User
from navi.live.model.attention import attention_of
from navi.live.model.event import TextDelta, ToolStarted, TurnEvent, Usage, UsageWindow
from navi.live.model.input import Input, NewInput, Origin
from navi.live.model.message import drafts_of, with_ending
from navi.live.model.scheduling.automation import Guards, RunState
from navi.live.model.session import Session
from navi.live.model.turn import Ending, Outcome, StopReason, Turn
from navi.live.model.usage_limit import CONTINUE, Account, LimitReport, RetryPolicy
from navi.live.store import input_queue, lanes, sessions, transcript, turns, usage_limits
from navi.live.store.due.due_automations import DueAutomations
from navi.live.store.scheduling import automation_runs
from navi.live.store.usage_limits import AccountNotFound
from tests.integration.store.automation_steps import add, now_of
from tests.store_world import NOON, World, claim

ADMIN = User(LOCAL_USER_ID, Role.ADMIN, NOON)
ADA = User("ada", Role.USER, NOON)
POLICY = RetryPolicy(max_probes=3)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
LIMIT = "You've hit your limit"
HALF = [TextDelta("half of it")]
SHARED = Account("anthropic:…3f9a", "builtin", None)


def limit(resets_at: datetime | None = None) -> Ending:
    return Ending(Outcome.LIMIT, LIMIT, resets_at=resets_at, limit_kind="five_hour")


def shared_account(session: Session) -> Account:
    return SHARED


async def begin(world: World, session: Session, **claimed: Any) -> turns.TurnStart | None:
    now = world.later()
    lease = now + timedelta(seconds=15)
    held = turns.Claim(new_id(), "me", lease, now, retry=POLICY, **claimed)
    return await world.store.transact(turns.begin, session.id, held)


async def begun(world: World, session: Session, text: str = "go", **fields: Any) -> Turn:
    await world.admit(session, text, **{"origin": Origin.AGENT, **fields})
    start = await begin(world, session)
    assert start is not None
    return start.turn


async def end(world: World, turn: Turn, ending: Ending, happened: Sequence[TurnEvent] = ()) -> None:
    drafts = with_ending(drafts_of(happened), ending)
    now = world.later()
    await world.store.transact(turns.finish, turn, 0, happened, drafts, ending, Usage(), now)


async def current(world: World, session: Session) -> Session:
    return await world.store.transact(sessions.get, session.id)


async def queue(world: World, session: Session) -> list[Input]:
    return await world.store.transact(input_queue.list_inputs, session.id)


async def texts(world: World, session: Session) -> list[str]:
    return [each.content for each in await world.store.transact(transcript.read, session.id)]


async def listed(world: World, user: User = ADMIN) -> list[LimitReport]:
    return await world.store.transact(usage_limits.list_limits, user, world.now)


async def ignore(world: World, user: User = ADMIN, account: str | None = None) -> None:
    lifted = await world.store.transact(usage_limits.lift, user, account)
    for session_id in await world.store.transact(usage_limits.waiting_sessions, lifted):
        await world.store.transact(usage_limits.release, session_id, lifted, world.later())


def payloads(world: World, type_: str) -> list[dict[str, Any]]:
    return [event.payload for event in world.published if event.type == type_]


async def test_an_input_whose_turn_showed_nothing_waits_itself_for_the_reset(world: World) -> None:
    session = await world.session()
    turn = await begun(world, session, "build it")
    resets_at = world.now + HOUR
    await end(world, turn, limit(resets_at))

    [waiting] = await queue(world, session)
    retry_at = resets_at + POLICY.margin
    assert (waiting.id, waiting.text) == (turn.input.id, "build it")
    assert (waiting.not_before, waiting.limit_account) == (retry_at, "scripted:local")
    assert await texts(world, session) == []
    after = await current(world, session)
    assert (after.limit_until, after.last_outcome, after.unread) == (retry_at, "limit", False)
    assert attention_of(after) is None
    [ended] = payloads(world, "stream_end")
    assert ended == {"outcome": "limit", "message_id": None, "error": LIMIT}
    assert payloads(world, "session_sync")[-1]["session"]["limit_until"] is not None
    assert payloads(world, "input_queued")[-1]["input"]["not_before"] is not None

    world.now = retry_at - 2 * SECOND
    assert await begin(world, session) is None
    world.now = retry_at
    start = await begin(world, session)
    assert start is not None
    assert start.turn.input.id == turn.input.id
    await end(world, start.turn, Ending(Outcome.OK), HALF)
    assert await texts(world, session) == ["build it", "half of it"]
    assert (await current(world, session)).limit_until is None


async def test_a_turn_that_showed_something_is_continued_and_not_repeated(world: World) -> None:
    session = await world.session()
    turn = await begun(world, session, "build it", origin=Origin.USER, notify_on_stop=True)
    call = ToolStarted("c1", "terminal", {"command": "make"})
    await end(world, turn, limit(world.now + HOUR), [*HALF, call])

    [waiting] = await queue(world, session)
    assert (waiting.text, waiting.origin) == (CONTINUE, "user")
    assert waiting.metadata["continues"] == [turn.input.id]
    assert await texts(world, session) == ["build it", "half of it"]
    after = await current(world, session)
    assert (after.unread, attention_of(after)) == (True, "unread")
    assert not after.notify_person

    await world.admit(session, "and test it", origin=Origin.AGENT)
    world.now += 2 * HOUR
    start = await begin(world, session)
    assert start is not None
    assert start.turn.input.text == CONTINUE
    await end(world, start.turn, Ending(Outcome.OK), HALF)
    assert (await current(world, session)).notify_person
    start = await begin(world, session)
    assert start is not None
    assert start.turn.input.text == "and test it"


async def test_senders_who_asked_for_a_notice_get_it_when_the_work_is_done(world: World) -> None:
    senders = [await world.session(id=f"sender{number}") for number in range(2)]
    session = await world.session()
    for each in senders:
        sender = {"origin": Origin.AGENT, "notify_on_stop": True, "sender_session_id": each.id}
        await world.admit(session, f"from {each.id}", **sender)
    start = await begin(world, session)
    assert start is not None
    await end(world, start.turn, limit(), HALF)
    assert [await queue(world, each) for each in senders] == [[], []]

    world.now += HOUR
    start = await begin(world, session)
    assert start is not None
    await end(world, start.turn, Ending(Outcome.OK), HALF)
    for each in senders:
        [notice] = await queue(world, each)
        assert "has stopped" in notice.text
        assert f"from {each.id}" in notice.text


async def test_inputs_of_the_same_account_wait_and_go_on_in_steps(world: World) -> None:
    limited, *others = [await world.session(id=f"session{number}") for number in range(4)]
    elsewhere = await world.session(driver="codex")
    foreign = await world.session(user_id="ada")
    resets_at = world.now + HOUR
    await end(world, await begun(world, limited), limit(resets_at))

    for each in (*others, elsewhere, foreign):
        await world.admit(each, "go", origin=Origin.AGENT)
    assert [await begin(world, each) for each in others] == [None, None, None]
    assert await begin(world, elsewhere) is not None
    assert await begin(world, foreign) is not None

    retry_at = resets_at + POLICY.margin
    slots = [(await queue(world, each))[0].not_before for each in (limited, *others)]
    lead, step = POLICY.lead, POLICY.spacing
    assert slots == [
        retry_at,
        *[retry_at + lead + number * step for number in range(3)],
    ]
    assert [(await current(world, each)).limit_until for each in (limited, *others)] == slots
    [report] = await listed(world)
    assert (report.account.id, report.kind) == ("scripted:local", "five_hour")
    assert (report.until, report.waiting_inputs) == (retry_at, 4)
    assert await listed(world, ADA) == []

    ready = await world.store.transact(lanes.ready, retry_at, 10)
    assert [each.session_id for each in ready] == [limited.id]


async def test_a_session_has_one_place_for_all_its_inputs_and_keeps_their_order(
    world: World,
) -> None:
    first, session = await world.session(), await world.session()
    await end(world, await begun(world, first), limit(world.now + HOUR))
    for text in ("one", "two"):
        await world.admit(session, text, origin=Origin.AGENT)
    assert await begin(world, session) is None
    await world.admit(session, "three", origin=Origin.AUTOMATION)
    assert await begin(world, session) is None

    waiting = await queue(world, session)
    assert [each.text for each in waiting] == ["one", "two", "three"]
    assert len({each.not_before for each in waiting}) == 1


async def test_a_person_may_send_despite_a_limit_but_what_they_sent_before_waits(
    world: World,
) -> None:
    other, session = await world.session(), await world.session()
    turn = await begun(world, other)
    running = await begun(world, session)
    await world.admit(session, "sent before", origin=Origin.USER)
    await end(world, turn, limit(world.now + HOUR))
    await end(world, running, Ending(Outcome.OK), HALF)
    assert await begin(world, session) is None

    await world.admit(session, "sent despite it", origin=Origin.USER)
    start = await begin(world, session)
    assert start is not None
    assert start.turn.input.text == "sent despite it"
    assert (await current(world, session)).limit_until is not None

    await end(world, start.turn, limit(world.now + HOUR))
    assert [each.text for each in await queue(world, session)] == ["sent before", "sent despite it"]
    assert await begin(world, session) is None


async def test_a_limit_that_lasts_longer_holds_its_inputs_again(world: World) -> None:
    first, second = await world.session(), await world.session()
    await end(world, await begun(world, first), limit(world.now + HOUR))
    await world.admit(second, "go", origin=Origin.AGENT)
    assert await begin(world, second) is None

    world.now = (await queue(world, first))[0].not_before or world.now
    probe = await begin(world, first)
    assert probe is not None
    later = world.now + HOUR
    await end(world, probe.turn, limit(later))

    world.now = (await queue(world, second))[0].not_before or world.now
    assert await begin(world, second) is None
    [waiting] = await queue(world, second)
    assert waiting.not_before == later + POLICY.margin + POLICY.lead


async def test_a_successful_probe_lifts_the_limit(world: World) -> None:
    first, second = await world.session(), await world.session()
    await end(world, await begun(world, first), limit())
    world.now += 2 * MINUTE
    probe = await begin(world, first)
    assert probe is not None
    await end(world, probe.turn, Ending(Outcome.OK), HALF)

    assert await listed(world) == []
    assert payloads(world, "limit_update")[-1]["limit"]["until"] is None
    await world.admit(second, "go", origin=Origin.AGENT)
    assert await begin(world, second) is not None


async def test_an_unknown_reset_is_probed_with_growing_pauses_and_then_fails_visibly(
    world: World,
) -> None:
    session = await world.session()
    await world.admit(session, "go", origin=Origin.AGENT)
    pauses = []
    for _ in range(POLICY.max_probes):
        start = await begin(world, session)
        assert start is not None
        await end(world, start.turn, limit())
        [waiting] = await queue(world, session)
        assert waiting.not_before is not None
        pauses.append(waiting.not_before - world.now)
        world.now = waiting.not_before
    assert pauses == [MINUTE, 2 * MINUTE, 4 * MINUTE]

    start = await begin(world, session)
    assert start is not None
    await end(world, start.turn, limit())
    assert await queue(world, session) == []
    *_, last = await texts(world, session)
    assert "tried again 3 times" in last
    after = await current(world, session)
    assert (after.limit_until, attention_of(after)) == (None, "failed")


async def test_a_turn_that_was_asked_to_stop_is_not_tried_again(world: World) -> None:
    session = await world.session()
    turn = await begun(world, session)
    await world.store.transact(lanes.request_stop, session.id, StopReason.PERSON)
    await end(world, turn, limit(world.now + HOUR), HALF)
    assert await queue(world, session) == []
    assert (await current(world, session)).limit_until is None


async def test_an_end_that_is_stored_twice_is_one_limit_and_one_continuation(world: World) -> None:
    session = await world.session()
    turn = await begun(world, session)
    for _ in range(2):
        await end(world, turn, limit(), HALF)
    [waiting] = await queue(world, session)
    assert waiting.not_before is not None
    [report] = await listed(world)
    assert report.until == waiting.not_before


async def test_sessions_that_meet_the_limit_at_once_get_different_places(world: World) -> None:
    all_sessions = [await world.session(id=f"session{number}") for number in range(8)]
    running = [await begun(world, each) for each in all_sessions]
    ending = limit(world.now + HOUR)
    await asyncio.gather(*(end(world, turn, ending) for turn in running))

    slots = {(await queue(world, each))[0].not_before for each in all_sessions}
    assert len(slots) == 8
    assert (ending.resets_at or world.now) + POLICY.margin in slots


async def test_a_limit_that_is_ignored_lets_everything_go_on_in_order(world: World) -> None:
    first, second = await world.session(), await world.session()
    await end(world, await begun(world, first, "build"), limit(world.now + HOUR), HALF)
    for text in ("one", "two"):
        await world.admit(second, text, origin=Origin.AUTOMATION)
    assert await begin(world, second) is None

    await ignore(world)

    assert await listed(world) == []
    assert [each.text for each in await queue(world, second)] == ["one", "two"]
    assert (await current(world, second)).limit_until is None
    for session, text in ((first, CONTINUE), (second, "one")):
        start = await begin(world, session)
        assert start is not None
        assert start.turn.input.text == text


async def test_a_user_ignores_only_limits_of_their_own_accounts(world: World) -> None:
    session = await world.session()
    await end(world, await begun(world, session), limit())
    with pytest.raises(AccountNotFound):
        await ignore(world, ADA, "scripted:local")
    with pytest.raises(AccountNotFound):
        await ignore(world, ADMIN, "nobody:…1234")

    theirs = await world.session(user_id="ada")
    await world.admit(theirs, origin=Origin.AGENT)
    start = await begin(world, theirs, account_of=shared_account)
    assert start is not None
    await end(world, start.turn, limit())
    assert [each.account for each in await listed(world, ADA)] == [SHARED]
    with pytest.raises(NotAllowed):
        await ignore(world, ADA, SHARED.id)
    await ignore(world, ADA)
    assert (await queue(world, theirs))[0].limit_account == SHARED.id
    await ignore(world, ADMIN, SHARED.id)
    assert (await queue(world, theirs))[0].limit_account is None


async def test_clearing_a_session_drops_the_work_that_was_to_be_continued(world: World) -> None:
    session = await world.session()
    await end(world, await begun(world, session), limit(world.now + HOUR), HALF)
    await world.admit(session, "next", origin=Origin.USER)
    await world.store.transact(sessions.clear, session.id, world.later())
    assert [each.text for each in await queue(world, session)] == ["next"]


async def test_a_killed_session_leaves_nothing_that_waits(world: World) -> None:
    session = await world.session()
    await end(world, await begun(world, session), limit(world.now + HOUR), HALF)
    await world.store.transact(sessions.kill, session.id, world.later())
    assert await queue(world, session) == []
    [report] = await listed(world)
    assert report.waiting_inputs == 0


@pytest.mark.parametrize("happened", [(), HALF], ids=["silent", "in mid-turn"])
async def test_an_automation_stays_on_and_its_run_goes_on_after_the_limit(
    world: World, happened: Sequence[TurnEvent]
) -> None:
    session = await world.session()
    made = await add(world, session, guards=Guards(max_failures=1))
    await claim(world.store, DueAutomations(keep_runs=9), NOON + HOUR)
    world.now = NOON + HOUR
    resets_at = NOON + 3 * HOUR
    start = await begin(world, session)
    assert start is not None
    await end(world, start.turn, limit(resets_at), happened)

    [run] = await world.store.transact(automation_runs.list_runs, made.id)
    assert (run.state, run.outcome, run.error) == (RunState.QUEUED, Outcome.LIMIT, LIMIT)
    waits = await now_of(world, made)
    assert (waits.enabled, waits.failures_in_row, waits.last_status) == (True, 0, "limit")
    await claim(world.store, DueAutomations(keep_runs=9), NOON + 2 * HOUR)
    assert len(await queue(world, session)) == 1

    world.now = resets_at + HOUR
    start = await begin(world, session)
    assert start is not None
    assert (start.turn.input.text == CONTINUE) == bool(happened)
    await end(world, start.turn, Ending(Outcome.OK), HALF)
    [run] = await world.store.transact(automation_runs.list_runs, made.id)
    assert (run.state, run.outcome, run.error) == (RunState.TURN_COMPLETED, Outcome.OK, None)
    after = await now_of(world, made)
    assert (after.enabled, after.last_status, after.missed_count) == (True, "ok", 1)


async def test_switching_an_automation_off_cancels_the_run_that_waits_to_continue(
    world: World,
) -> None:
    session = await world.session()
    made = await add(world, session)
    await claim(world.store, DueAutomations(keep_runs=9), NOON + HOUR)
    world.now = NOON + HOUR
    start = await begin(world, session)
    assert start is not None
    await end(world, start.turn, limit(), HALF)

    off = {"enabled": False}
    await world.store.transact(automation_runs.amend, made.id, off, world.later())
    assert await queue(world, session) == []
    [run] = await world.store.transact(automation_runs.list_runs, made.id)
    assert run.state is RunState.CANCELLED


async def test_what_an_account_has_used_is_kept_and_announced_when_it_changes(
    world: World,
) -> None:
    session = await world.session()
    turn = await begun(world, session)
    window = UsageWindow("five_hour", 93.0, NOON + 5 * HOUR)
    for each in (window, window, replace(window, used_percent=95.0)):
        await world.store.transact(usage_limits.record_window, turn, each, world.now)

    [report] = await listed(world)
    assert (report.used_percent, report.resets_at) == (95.0, NOON + 5 * HOUR)
    assert (report.until, report.waiting_inputs) == (None, 0)
    used = [each["limit"]["used_percent"] for each in payloads(world, "limit_update")]
    assert used == [93.0, 95.0]


async def test_an_input_admitted_to_a_free_session_waits_too(world: World) -> None:
    first, second = await world.session(), await world.session()
    await end(world, await begun(world, first), limit(world.now + HOUR))
    now = world.later()
    held = turns.Claim(new_id(), "me", now + MINUTE, now, retry=POLICY)
    new = NewInput(new_id(), second.id, "go", origin=Origin.AGENT)
    admission, start = await world.store.transact(turns.admit, new, ADMIN, held)
    assert (admission.delivered, start) == (False, None)
    assert (await current(world, second)).limit_until is not None
