"""Turns of agents that outlive their server, and sessions that are open in terminals."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from navi.base.errors import FenceLost, NotYours
from navi.base.ids import new_id
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import Role, User
from navi.live.model.event import TextDelta, ToolStarted, TurnEvent, Usage
from navi.live.model.message import drafts_of
from navi.live.model.session import Session, SessionState, generated_name
from navi.live.model.turn import Ending, Outcome, RunningTurn
from navi.live.store import input_queue, lanes, sessions, terminals, transcript, turns
from navi.live.store.scheduling import compactions
from tests.hook_reports import hook_report
from tests.store_world import NOON, World

BEGINNING: list[TurnEvent] = [TextDelta("first, "), ToolStarted("1", "Bash", {"command": "ls"})]


async def running(world: World, session: Session) -> RunningTurn:
    (lane,) = await world.store.transact(lanes.running, [session.id])
    return lane


def claim(world: World, dead: RunningTurn, owner: str = "next") -> turns.Claim:
    now = world.later()
    return turns.Claim(dead.id, owner, now + timedelta(seconds=15), now)


async def test_a_turn_that_was_taken_over_is_the_same_turn_with_a_new_owner(world: World) -> None:
    session = await world.session(driver="claude_code")
    begun = await world.begun(session, "question")
    await world.store.transact(turns.extend, begun.turn, 0, BEGINNING, world.later())
    dead = await running(world, session)

    again = await world.store.transact(turns.take_over, dead, claim(world, dead))

    assert again is not None
    assert again.turn.id == begun.turn.id
    assert again.turn.fence == begun.turn.fence + 1
    assert [each.text for each in again.turn.inputs] == ["question"]
    assert list(again.stored_events) == BEGINNING
    with pytest.raises(FenceLost):
        await world.store.transact(turns.extend, begun.turn, 2, BEGINNING, world.later())
    last: list[TurnEvent] = [TextDelta("last")]
    await world.store.transact(
        turns.finish,
        again.turn,
        2,
        last,
        drafts_of([*BEGINNING, *last]),
        Ending(Outcome.OK),
        Usage(),
        world.later(),
    )
    messages = await world.store.transact(transcript.read, session.id)
    assert messages[0].content == "question"
    assert (await world.store.transact(sessions.get, session.id)).state is SessionState.IDLE


async def test_only_one_server_takes_a_turn_over(world: World) -> None:
    session = await world.session(driver="claude_code")
    await world.begun(session)
    dead = await running(world, session)

    first = await world.store.transact(turns.take_over, dead, claim(world, dead, "first"))
    second = await world.store.transact(turns.take_over, dead, claim(world, dead, "second"))
    repeated = await world.store.transact(turns.take_over, dead, claim(world, dead, "first"))

    assert first is not None
    assert second is None
    assert repeated is not None
    assert repeated.turn.fence == first.turn.fence


async def test_an_agent_keeps_its_first_name_until_the_session_is_cleared(world: World) -> None:
    session = await world.session(driver="codex")
    await world.store.transact(terminals.remember, session, "thread-1", world.later())
    await world.store.transact(terminals.remember, session, "thread-2", world.later())
    conversation = await world.store.transact(terminals.conversation, session)
    assert conversation is not None
    assert conversation.agent_session_id == "thread-1"

    cleared = replace(session, context_from_idx=2)
    assert await world.store.transact(terminals.conversation, cleared) is None


LOCAL = Caller(User("local", Role.USER, NOON, {}))
STRANGER = Caller(User("stranger", Role.ADMIN, NOON, {}))


async def reported(
    world: World, event: str, *, seconds: float = 1, sender: Caller = LOCAL, **fields: Any
) -> Session:
    """Report from a hook of a person's own agent, that many seconds after the last."""
    emitted_at = fields.pop("emitted_at", world.later(seconds))
    news = hook_report(event, "abc", emitted_at, **fields)
    template = await template_session(world)
    return await world.store.transact(terminals.report, sender, news, template, world.now)


async def template_session(world: World) -> Session:
    session_id = new_id()
    name = generated_name(session_id, "work")
    return Session.new("local", "claude_code", "/work", world.now, id=session_id, name=name)


async def test_a_terminal_becomes_one_session_that_follows_its_hooks(world: World) -> None:
    session = await reported(world, "SessionStart")
    states = [
        (await reported(world, event)).state
        for event in ("UserPromptSubmit", "Notification", "PostToolUse", "Stop")
    ]
    assert states == ["running", "waiting", "running", "idle"]
    assert (await reported(world, "SessionStart")).id == session.id


async def test_a_terminal_is_shown_by_the_first_line_typed_in_it(world: World) -> None:
    session = await reported(world, "SessionStart")
    assert session.title == session.name
    for prompt in ("Mow the lawn.", "Now the hedge."):
        session = await reported(world, "UserPromptSubmit", prompt=prompt)
        assert (session.title, session.state) == ("Mow the lawn.", "running")
    assert (await world.store.transact(sessions.get, session.id)).title == "Mow the lawn."


async def test_a_notice_that_nothing_happens_is_not_a_question(world: World) -> None:
    await reported(world, "SessionStart")
    session = await reported(world, "Notification", notification_type="idle_prompt")
    assert session.state is SessionState.IDLE


async def test_older_news_never_overrides_newer(world: World) -> None:
    await reported(world, "UserPromptSubmit", seconds=10)
    early = world.now - timedelta(seconds=5)
    session = await reported(world, "Stop", emitted_at=early)
    assert session.state is SessionState.RUNNING


async def test_what_is_sent_to_an_open_terminal_waits_until_it_asks_or_is_gone(
    world: World,
) -> None:
    session = await reported(world, "SessionStart")
    await world.admit(session, "for the terminal")

    assert await world.begin(session) is None
    assert await ready(world) == []
    now = world.later()
    claim = turns.Claim(new_id(), "me", now + timedelta(seconds=15), now, is_hand_over=True)
    begun = await world.store.transact(turns.begin, session.id, claim)
    assert begun is not None

    # It was not delivered after all: it waits again and runs without the terminal.
    dead = await running(world, session)
    await world.store.transact(turns.close_dead, dead, world.later(), "not taken")
    [waiting] = await world.store.transact(input_queue.list_inputs, session.id)
    assert waiting.text == "for the terminal"
    [open_one] = await world.store.transact(terminals.list_open)
    await world.store.transact(terminals.close, open_one, world.later())
    assert await ready(world) == [session.id]
    assert await world.begin(session) is not None


async def test_nobody_reports_for_somebody_elses_session(world: World) -> None:
    session = await reported(world, "SessionStart")
    with pytest.raises(NotYours):
        await reported(world, "UserPromptSubmit", sender=STRANGER)
    now = await world.store.transact(sessions.get, session.id)
    assert now.state is SessionState.IDLE


async def test_an_agent_that_navi_runs_reports_its_compactions_and_is_in_no_terminal(
    world: World,
) -> None:
    session = await world.session(driver="claude_code")
    await world.store.transact(terminals.remember, session, "abc", world.now)
    begins = hook_report("PreCompact", "abc", world.later())

    await world.store.transact(terminals.report_compaction, LOCAL, begins)
    assert await world.store.transact(compactions.held_until, session.id) is not None
    assert not await world.store.transact(terminals.is_open, session)
    with pytest.raises(NotYours):
        await world.store.transact(terminals.report_compaction, STRANGER, begins)

    over = hook_report("SessionStart", "abc", world.later())
    await world.store.transact(terminals.report_compaction, LOCAL, over)
    assert await world.store.transact(compactions.held_until, session.id) is None
    # Another session of the same agent, perhaps its own child, is not Navi's.
    unknown = replace(begins, agent_session_id="def")
    await world.store.transact(terminals.report_compaction, LOCAL, unknown)


async def ready(world: World) -> list[str]:
    waiting = await world.store.transact(lanes.ready, world.now, 10)
    return [each.session_id for each in waiting]
