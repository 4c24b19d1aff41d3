"""What the store keeps of what a person has seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from navi.base.ids import new_id
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import Role, User
from navi.live.model.attention import attention_of
from navi.live.model.event import TextDelta, Usage
from navi.live.model.input import Origin
from navi.live.model.message import Notice, drafts_of
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import Ending, Outcome, StopReason, Turn
from navi.live.store import lanes, sessions, terminals, transcript, turns
from tests.hook_reports import hook_report
from tests.store_world import NOON, World

FROM_AN_AGENT: dict[str, Any] = {"origin": Origin.AGENT, "sender_session_id": "lead"}


async def current(world: World, session: Session) -> Session:
    return await world.store.transact(sessions.get, session.id)


async def attention(world: World, session: Session) -> str | None:
    return attention_of(await current(world, session))


async def end(world: World, turn: Turn, outcome: Outcome, error: str | None = None) -> None:
    happened = [TextDelta("I tried.")]
    ending, now = Ending(outcome, error), world.later()
    drafts = drafts_of(happened)
    await world.store.transact(
        turns.finish, turn, 0, happened, drafts, ending, Usage(1, 1, 0, 0), now
    )


def last_of(world: World, type_: str) -> dict[str, Any]:
    return [event.payload for event in world.published if event.type == type_][-1]


async def test_a_session_whose_turn_has_ended_is_finished_until_a_person_writes(
    world: World,
) -> None:
    session = await world.session()
    assert await attention(world, session) is None

    await world.turn(session, "hello", TextDelta("Hi."))

    ended = await current(world, session)
    assert (ended.last_outcome, ended.unread) == (Outcome.OK, True)
    assert last_of(world, "session_sync")["session"]["attention"] == "finished"

    await world.admit(session, "thanks")

    assert await attention(world, session) is None
    assert last_of(world, "session_update")["session"]["unread"] is False


async def test_an_input_that_changes_no_mark_announces_only_itself(world: World) -> None:
    session = await world.session()
    world.published.clear()
    await world.admit(session)
    assert [event.type for event in world.published] == ["input_queued"]


async def test_a_failed_turn_is_shown_until_a_person_looks(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session)
    await end(world, begun.turn, Outcome.ERROR, "no connection")
    assert await attention(world, session) == "failed"

    await world.store.transact(sessions.change, session.id, {"unread": False}, world.later())

    seen = await current(world, session)
    assert (attention_of(seen), seen.last_outcome) == (None, Outcome.ERROR)


async def test_a_turn_that_a_person_stopped_is_not_news(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session)
    await world.store.transact(lanes.request_stop, session.id, StopReason.PERSON)
    await end(world, begun.turn, Outcome.STOPPED)
    stopped = await current(world, session)
    assert (stopped.unread, stopped.last_outcome) == (False, Outcome.STOPPED)


async def test_a_session_with_more_inputs_is_unread_but_not_finished(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session)
    await world.admit(session, "from its lead", **FROM_AN_AGENT)
    await world.finish(begun.turn, TextDelta("One done."))
    assert last_of(world, "session_sync")["session"]["attention"] == "unread"
    assert await attention(world, session) == "unread"

    following = await world.begin(session)
    assert following is not None
    assert last_of(world, "stream_start")["attention"] == "unread"
    await world.finish(following.turn, TextDelta("Both done."))
    assert await attention(world, session) == "finished"


async def test_a_turn_that_is_undone_leaves_the_last_outcome_alone(world: World) -> None:
    session = await world.session()
    await world.turn(session, "hello", TextDelta("Hi."))
    await world.store.transact(sessions.change, session.id, {"unread": False}, world.later())
    await world.begun(session, "again", **FROM_AN_AGENT)
    (dead,) = await world.store.transact(lanes.running, [session.id])

    assert await world.store.transact(turns.close_dead, dead, world.later())

    undone = await current(world, session)
    assert (undone.last_outcome, undone.unread) == (Outcome.OK, False)
    assert undone.has_queue


async def test_a_child_is_finished_only_for_the_person_who_asked_to_be_notified(
    world: World,
) -> None:
    lead = await world.session()
    child = await world.session(id=new_id(), parent_id=lead.id)
    await world.turn(child, "build it", TextDelta("Built."), **FROM_AN_AGENT)
    assert await attention(world, child) is None

    await world.turn(child, "and test it", TextDelta("Tested."), notify_on_stop=True)
    assert await attention(world, child) == "finished"

    await world.admit(child, "thanks")
    seen = await current(world, child)
    assert (seen.unread, seen.notify_person) == (False, False)


async def test_a_childs_failure_needs_a_person(world: World) -> None:
    child = await world.session(parent_id="lead")
    begun = await world.begun(child, **FROM_AN_AGENT)
    await end(world, begun.turn, Outcome.DENIED, "refused: Bash(ls)")
    assert await attention(world, child) == "failed"


async def test_marks_are_announced_and_are_not_activity(world: World) -> None:
    session = await world.session()
    world.published.clear()
    marks: dict[str, Any] = {"pinned": True, "archived": True, "unread": True}

    marked = await world.store.transact(sessions.change, session.id, marks, world.later())

    assert marked == replace(session, **marks) == await current(world, session)
    assert [event.type for event in world.published] == ["session_update"]
    announced = last_of(world, "session_update")["session"]
    assert marks.items() <= announced.items()

    await world.store.transact(sessions.change, session.id, marks, world.later())
    assert len(world.published) == 1, "a mark that is set already is not announced again"


async def test_an_input_from_a_person_takes_a_session_out_of_the_archive(world: World) -> None:
    session = await world.session(archived=True)
    await world.admit(session, **FROM_AN_AGENT)
    assert (await current(world, session)).archived
    await world.admit(session)
    assert not (await current(world, session)).archived
    assert last_of(world, "session_update")["session"]["archived"] is False


async def test_a_notice_outside_any_turn_is_news(world: World) -> None:
    session = await world.session()

    def post(connection) -> None:
        notice = Notice("notice-1", "The build broke.", Origin.AUTOMATION, {})
        transcript.post(connection, lanes.lock(connection, session.id), notice, world.now)

    await world.store.transact(post)

    assert await attention(world, session) == "finished"
    assert last_of(world, "session_update")["session"]["unread"] is True


async def test_a_session_in_which_an_agent_asks_is_waiting(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session)
    await world.store.transact(turns.set_asking, begun.turn, True, world.later())
    asking = await current(world, session)
    assert (asking.state, attention_of(asking)) == (SessionState.WAITING, "waiting")


async def report_prompt(world: World, session: Session) -> None:
    """Somebody has typed a prompt into the agent's terminal."""
    prompt = hook_report("UserPromptSubmit", "agent-session-1", world.later(), prompt="and now?")
    sender = Caller(User("local", Role.ADMIN, NOON))
    await world.store.transact(terminals.report, sender, prompt, session, world.now)


async def test_a_person_who_writes_in_their_own_terminal_has_seen_the_session(
    world: World,
) -> None:
    session = await world.session(driver="claude_code", unread=True, archived=True)
    await world.store.transact(terminals.remember, session, "agent-session-1", world.now)

    await report_prompt(world, session)

    seen = await current(world, session)
    assert (seen.unread, seen.archived, seen.state) == (False, False, SessionState.RUNNING)


async def test_a_prompt_that_navi_itself_types_is_not_a_persons(world: World) -> None:
    session = await world.session(driver="tmux", unread=True)
    await world.store.transact(terminals.remember, session, "agent-session-1", world.now)
    await world.begun(session, **FROM_AN_AGENT)

    await report_prompt(world, session)

    assert (await current(world, session)).unread
