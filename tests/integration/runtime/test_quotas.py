"""How much one user and one session may have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from navi.base.ids import new_id
from navi.live.model.access.caller import Caller
from navi.live.model.access.quota import LimitReached
from navi.live.model.access.user import User
from navi.live.model.input import NewInput
from navi.live.model.scheduling.automation_request import AutomationRequest
from navi.live.model.scheduling.recall import CallType
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.model.session import Session
from navi.live.runtime.app import Navi, running
from navi.live.runtime.settings import LimitSettings, Settings
from tests.hook_reports import hook_report
from tests.live_world import ADA, BOB, EPOCH, LOCAL, LONG

FEW = LimitSettings(
    sessions=5,
    recalls=2,
    automations=3,
    reminders=2,
    waiting_inputs=5,
    automations_per_session=2,
    waiting_inputs_per_session=3,
)


class Home:
    def __init__(self, navi: Navi, folder: Path) -> None:
        self.navi = navi
        self._folder = folder

    async def session(self, user: User) -> Session:
        return await self.navi.sessions.create(user, driver="scripted", cwd=str(self._folder))

    async def recall(self, user: User, session: Session) -> Any:
        return await self.navi.recalls.schedule(
            user,
            session.id,
            RecallRequest(
                call_type=CallType.ONCE, when="in 3 days", additional_context_message="Look around."
            ),
        )

    async def automation(self, user: User, session: Session) -> Any:
        return await self.navi.automations.add(
            user,
            session.id,
            AutomationRequest(name="look", message="Look around.", cron_expr="0 9 * * *"),
        )

    async def reminder(self, user: User, session: Session) -> Any:
        return await self.navi.reminders.schedule(user, session.id, 9_000, "look")

    async def say(self, user: User, session: Session, text: str = "hello") -> Any:
        new = NewInput(id=new_id(), session_id=session.id, text=text)
        return await self.navi.admission.admit(user, new)


@pytest.fixture
async def home(database_url: str, tmp_path: Path) -> AsyncIterator[Home]:
    async with running(Settings(limits=FEW), database_url, "token") as navi:
        yield Home(navi, tmp_path)


async def refused(attempt: Awaitable[Any]) -> str:
    with pytest.raises(LimitReached) as refusal:
        await attempt
    assert refusal.value.http_status == 409
    return refusal.value.sentence


async def test_sessions_are_limited_for_each_user_separately(home: Home) -> None:
    sessions = [await home.session(BOB) for _ in range(5)]

    assert "user bob has reached the limit of 5 sessions" in await refused(home.session(BOB))
    hook = hook_report("SessionStart", "x", EPOCH)
    await refused(home.navi.terminals.report(Caller(BOB), hook))

    await home.session(ADA)
    await home.navi.sessions.remove(BOB, sessions[0].id)
    await home.navi.terminals.report(Caller(BOB), hook)
    # Reports for an existing session are accepted, however many there are.
    await home.navi.terminals.report(Caller(BOB), hook)


@pytest.mark.parametrize(
    ("make", "most", "things"),
    [
        (Home.recall, 2, "pending recalls"),
        (Home.automation, 3, "automations"),
        (Home.reminder, 2, "pending reminders"),
    ],
)
async def test_scheduled_things_are_limited_for_each_user_separately(
    home: Home, make: Callable[..., Awaitable[Any]], most: int, things: str
) -> None:
    for _ in range(most):
        await make(home, BOB, await home.session(BOB))
    one_more = await home.session(BOB)

    words = await refused(make(home, BOB, one_more))

    assert words.startswith(f"user bob has reached the limit of {most} {things}")
    assert "[limits]" in words
    await make(home, ADA, await home.session(ADA))
    await make(home, LOCAL, one_more)


async def test_a_cancelled_recall_makes_room(home: Home) -> None:
    sessions = [await home.session(BOB) for _ in range(3)]
    for session in sessions[:2]:
        await home.recall(BOB, session)
    await refused(home.recall(BOB, sessions[2]))

    await home.navi.recalls.cancel(BOB, sessions[0].id)

    await home.recall(BOB, sessions[2])


async def test_automations_of_a_session_are_limited_for_admins_too(home: Home) -> None:
    session = await home.session(LOCAL)
    for _ in range(2):
        await home.automation(LOCAL, session)

    words = await refused(home.automation(LOCAL, session))

    assert words.startswith(f"session {session.id} has reached the limit of 2 automations")
    await home.automation(LOCAL, await home.session(LOCAL))


async def test_waiting_inputs_of_a_session_are_limited_for_admins_too(home: Home) -> None:
    session = await home.session(LOCAL)
    await home.say(LOCAL, session, LONG)
    for _ in range(3):
        await home.say(LOCAL, session)

    words = await refused(home.say(LOCAL, session))

    assert words.startswith(f"session {session.id} has reached the limit of 3 waiting inputs")
    assert len(await home.navi.sessions.queue(LOCAL, session.id)) == 3


async def test_waiting_inputs_of_a_user_are_limited_over_all_sessions(home: Home) -> None:
    sessions = [await home.session(BOB) for _ in range(2)]
    for session in sessions:
        await home.say(BOB, session, LONG)
    for session in [*sessions, *sessions, sessions[0]]:
        await home.say(BOB, session)

    assert (await refused(home.say(BOB, sessions[1]))).startswith(
        "user bob has reached the limit of 5 waiting inputs"
    )

    other = await home.session(BOB)
    assert (await home.say(BOB, other)).delivered, "an idle session has no queue to fill"
