"""Removing a user stops everything they have running, while servers run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from navi.base.errors import InvalidInput, NotFound
from navi.base.ids import new_id
from navi.base.system_clock import SystemClock
from navi.live.model.access.user import Belongings, Role, User
from navi.live.model.input import NewInput
from navi.live.model.scheduling.automation import Automation, Kind
from navi.live.model.scheduling.automation_request import AutomationRequest
from navi.live.model.scheduling.recall import CallType
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.model.session import Session, SessionState
from navi.live.runtime.scheduler.system_jobs import hidden_session
from navi.live.runtime.services.accounts import Accounts
from navi.live.runtime.services.server_token import ServerToken
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import automation_runs, automations, hidden_sessions
from tests.live_world import ADA, BOB, LOCAL, LONG, Start, World


@asynccontextmanager
async def command(database_url: str) -> AsyncIterator[Accounts]:
    """Run `navi user`, which uses the store beside the servers."""
    store = Store(database_url)
    store.start()
    try:
        yield Accounts(store, SystemClock(), ServerToken("of the server"), timedelta(days=1))
    finally:
        await store.close()


async def furnish(world: World, user: User) -> Session:
    """A session of the user with one of every kind of pending work."""
    await world.navi.accounts.add(user.id, Role.USER)
    navi = world.navi
    session = await navi.sessions.create(user, driver="scripted", cwd=str(world.folder))
    await navi.recalls.schedule(
        user,
        session.id,
        RecallRequest(
            call_type=CallType.ONCE, when="in 3 days", additional_context_message="Look."
        ),
    )
    await navi.automations.add(
        user, session.id, AutomationRequest(name="look", message="Look.", cron_expr="0 9 * * *")
    )
    await navi.reminders.schedule(user, session.id, 9_000, "look")
    for text in (LONG, "and then"):
        await navi.admission.admit(user, NewInput(id=new_id(), session_id=session.id, text=text))
    await world.started(session)
    return session


async def apart(world: World, user: User) -> Automation:
    """An automation that runs in a hidden session."""
    (bound,) = await world.navi.automations.list_automations(user)
    unbound = replace(bound, id=new_id(), kind=Kind.SYSTEM_EVENT, session_key=None)
    session = hidden_session(unbound, str(world.folder), "scripted", unbound.created_at)
    await world.navi.store.transact(
        hidden_sessions.add_or_update, session, unbound, unbound.created_at
    )
    return unbound


async def test_removing_a_user_stops_everything_and_tells_what(
    start: Start, database_url: str
) -> None:
    async with start() as world, command(database_url) as accounts:
        bobs, adas = await furnish(world, BOB), await furnish(world, ADA)
        hidden_one = await apart(world, BOB)
        expected = Belongings(sessions=2, turns=1, inputs=1, recalls=1, automations=2, reminders=1)
        assert await accounts.survey("bob") == expected

        assert await accounts.remove("bob") == expected

        # The server ends the turn, and says so.
        assert await world.outcomes(bobs, 1) == ["stopped"]
        navi = world.navi
        session = await navi.sessions.get(LOCAL, bobs.id)
        assert (session.state, session.pending) == (SessionState.STOPPED, None)
        assert await navi.sessions.queue(LOCAL, bobs.id) == []
        assert await navi.reminders.upcoming(BOB) == []
        for automation in await navi.automations.list_automations(BOB):
            assert (automation.enabled, automation.next_run_at) == (False, None)
        stored = await navi.store.transact(automations.get, hidden_one.id)
        assert (stored.enabled, stored.next_run_at) == (False, None)
        # Admins can still read the transcript.
        assert [each.content for each in await world.messages(bobs)] == [LONG, "(stopped)"]

        others = await navi.sessions.get(ADA, adas.id)
        assert (others.state, others.pending is None) == (SessionState.RUNNING, False)
        assert await accounts.survey("ada") == replace(expected, sessions=1, automations=1)


async def test_a_user_who_comes_back_finds_what_was_said_and_starts_afresh(start: Start) -> None:
    async with start() as world:
        session = await furnish(world, BOB)
        await world.navi.accounts.remove("bob")
        await world.navi.accounts.add("bob", Role.USER)

        assert (await world.navi.sessions.get(BOB, session.id)).state is SessionState.STOPPED
        nothing = Belongings(sessions=1, turns=0, inputs=0, recalls=0, automations=0, reminders=0)
        await world.ended(session)
        assert await world.navi.accounts.survey("bob") == nothing


async def test_only_users_who_are_there_can_be_removed(world: World) -> None:
    for attempt in (world.navi.accounts.survey, world.navi.accounts.remove):
        with pytest.raises(NotFound):
            await attempt("nobody")
        with pytest.raises(InvalidInput):
            await attempt("local")


async def test_a_removal_that_fails_changes_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start() as world:
        session = await furnish(world, BOB)
        before = await world.navi.accounts.survey("bob")

        def fail(*arguments: object) -> None:
            raise RuntimeError("in the middle")

        monkeypatch.setattr(automation_runs, "end", fail)
        with pytest.raises(RuntimeError):
            await world.navi.accounts.remove("bob")
        monkeypatch.undo()

        assert await world.navi.accounts.survey("bob") == before
        assert (await world.navi.sessions.get(LOCAL, session.id)).state is SessionState.RUNNING
