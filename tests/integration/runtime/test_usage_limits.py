from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from navi.base.errors import UsageLimit
from navi.live.agents.driver import Driver, DriverEvent, TurnRequest
from navi.live.model.event import TextDelta, UsageWindow
from navi.live.model.input import Origin
from navi.live.model.scheduling.automation import Automation, RunState
from navi.live.model.scheduling.automation_request import AutomationRequest
from navi.live.model.session import Session, SessionState
from navi.live.model.usage_limit import CONTINUE, RetryPolicy
from navi.live.model.validation import validate
from tests.hand_clock import HandClock
from tests.live_world import LOCAL, NOW, Start, World

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
POLICY = RetryPolicy()
HALF = "half of the work"
DONE = "all of it"


@dataclass
class Metered(Driver):
    """An agent whose account is limited from `closes_at` until `opens_at`.

    A prompt with "slowly" in it gets half of the work done before it meets the limit.
    """

    clock: HandClock
    closes_at: datetime
    opens_at: datetime
    names_reset: bool
    tries: defaultdict[str, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    prompts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    __hash__ = object.__hash__

    async def turn(self, request: TurnRequest) -> AsyncGenerator[DriverEvent, None]:
        now = self.clock.now()
        self.tries[request.session.id].append(now)
        self.prompts[request.session.id].append(request.prompt)
        if self.closes_at <= now < self.opens_at:
            if "slowly" in request.prompt:
                yield TextDelta(HALF)
            named = self.opens_at if self.names_reset else None
            raise UsageLimit("You've hit your limit", resets_at=named, limit_kind="five_hour")
        yield UsageWindow("five_hour", 7.0, now + 5 * HOUR)
        yield TextDelta(DONE)


async def settle(world: World, by: timedelta = timedelta(0)) -> None:
    """Move the clock, and return when all that is due has run."""
    await world.forward(seconds=by.total_seconds())

    async def nothing_runs() -> bool:
        listed = await world.navi.sessions.list_sessions(LOCAL)
        return all(each.state is SessionState.IDLE for each in listed)

    await world.until(nothing_runs)


async def agent_texts(world: World, session: Session) -> list[str]:
    return [each.content for each in await world.messages(session) if each.role == "assistant"]


async def current(world: World, session: Session) -> Session:
    return await world.navi.sessions.get(LOCAL, session.id)


async def test_a_limited_session_continues_by_itself_a_margin_after_the_reset(
    world: World,
) -> None:
    session = await world.session()
    await world.say(session, "[[say: I try.]] [[limit: 5400]]")
    await world.ended(session)

    limited = await current(world, session)
    assert limited.limit_until == NOW + timedelta(seconds=5400) + POLICY.margin
    await settle(world, timedelta(seconds=5400))
    assert await agent_texts(world, session) == ["I try."]
    await settle(world, POLICY.margin)
    assert await agent_texts(world, session) == ["I try.", f"ok: {CONTINUE}"]
    assert (await current(world, session)).limit_until is None


async def test_what_waits_for_a_limit_survives_the_server(start: Start) -> None:
    async with start() as world:
        first, second = await world.session(), await world.session()
        await world.say(first, "[[say: I try.]] [[limit: 3600]]")
        await world.ended(first)
        await world.say(second, "hello", origin=Origin.AGENT)
        await settle(world)
        assert await agent_texts(world, second) == []
    async with start() as world:
        await settle(world, HOUR)
        assert await agent_texts(world, second) == []
        await settle(world, POLICY.margin)
        assert len(await agent_texts(world, first)) == 2
        assert await agent_texts(world, second) == []
        await settle(world, POLICY.lead)
        assert await agent_texts(world, second) == ["ok: hello"]


async def test_a_limit_that_one_server_met_holds_the_inputs_of_the_other(start: Start) -> None:
    async with start() as one, start() as two:
        first, second = await one.session(), await two.session()
        await one.say(first, "[[say: I try.]] [[limit: 3600]]")
        await one.ended(first)
        admission = await two.say(second, "hello", origin=Origin.AGENT)
        assert not admission.delivered
        await settle(two)
        assert await agent_texts(two, second) == []
        await two.navi.usage_limits.ignore(LOCAL, None)
        assert await two.outcomes(second, 1) == ["ok"]
        assert await one.outcomes(first, 2) == ["limit", "ok"]


async def test_a_persons_message_is_delivered_at_once(world: World) -> None:
    first, second = await world.session(), await world.session()
    await world.say(first, "[[say: I try.]] [[limit: 3600]]")
    await world.ended(first)
    assert (await world.say(second, "hello")).delivered
    assert await world.outcomes(second, 1) == ["ok"]
    [report] = await world.navi.usage_limits.list_limits(LOCAL)
    assert report.until is not None


async def test_quotas_that_an_agent_reports_are_listed(start: Start, clock: HandClock) -> None:
    metered = Metered(clock, NOW + HOUR, NOW + HOUR, names_reset=True)
    async with start(drivers={"metered": metered}) as world:
        session = await world.session(driver="metered")
        await world.say(session, "go")
        await world.ended(session)
        [report] = await world.navi.usage_limits.list_limits(LOCAL)
        assert (report.account.id, report.kind) == ("metered:local", "five_hour")
        assert (report.used_percent, report.resets_at) == (7.0, NOW + 5 * HOUR)


@pytest.mark.proof
async def test_twenty_sessions_continue_after_their_limits_despite_a_restart(
    start: Start, clock: HandClock
) -> None:
    """20 sessions of two agents, of which one names its reset; the server restarts in between."""
    closes_at, opens_at = NOW + 10 * MINUTE, NOW + 4 * HOUR
    agents = {
        "claude_code": Metered(clock, closes_at, opens_at, names_reset=True),
        "codex": Metered(clock, closes_at, opens_at, names_reset=False),
    }
    async with start(drivers=agents) as world:
        night = await Night.begin(world, agents)
        for step in (HOUR, HOUR / 2):
            await settle(world, step)
    async with start(drivers=agents) as world:
        for _ in range(75):
            await settle(world, 4 * MINUTE)
        await night.check(world)


@dataclass
class Night:
    agents: Mapping[str, Metered]
    sessions: list[Session]
    late: list[Session]
    """Those that got their task when the limit was known."""
    automations: list[Automation]

    @classmethod
    async def begin(cls, world: World, agents: Mapping[str, Metered]) -> Night:
        sessions: list[Session] = []
        parent = None
        for number in range(20):
            driver = list(agents)[number % 2]
            session = await world.session(driver=driver, name=f"{number}", parent_id=parent)
            parent = session.id if number % 5 == 0 else None
            sessions.append(session)
        hourly = {"name": "hourly", "message": "look", "every_seconds": 3600, "max_failures": 1}
        request = validate(AutomationRequest, hourly)
        automated = sessions[:4]
        automations = [
            await world.navi.automations.add(LOCAL, each.id, request) for each in automated
        ]
        await settle(world, 10 * MINUTE)
        for number, session in enumerate(sessions[:12]):
            await world.say(session, "slowly" if number % 4 > 1 else "at once")
        await settle(world)
        for session in sessions[12:]:
            await world.say(session, "at once", origin=Origin.AGENT)
        await settle(world)
        return cls(agents, sessions, sessions[12:], automations)

    async def check(self, world: World) -> None:
        for session in self.sessions:
            agent = self.agents[session.driver]
            tries = agent.tries[session.id]
            was_tried_early = [at for at in tries if agent.closes_at < at < agent.opens_at]
            if agent.names_reset:
                assert was_tried_early == []
                assert all(at >= agent.opens_at + POLICY.margin for at in tries[1:])
            prompts = Counter(agent.prompts[session.id])
            words = Counter(await agent_texts(world, session))
            assert words[HALF] == (CONTINUE in prompts)
            tasks = [each for each in await world.messages(session) if each.source != "automation"]
            assert [each.content for each in tasks].count(DONE) == 1
            assert (await current(world, session)).limit_until is None
            assert await world.navi.sessions.queue(LOCAL, session.id) == []
        unnamed = self.agents["codex"]
        early = {at for each in unnamed.tries.values() for at in each if at < unnamed.opens_at}
        assert len(early) <= 8
        for automation in self.automations:
            after = await world.navi.automations.get(LOCAL, automation.id)
            assert (after.enabled, after.failures_in_row, after.last_status) == (True, 0, "ok")
            runs = await world.navi.automations.list_runs(LOCAL, automation.id)
            assert {run.state for run in runs} == {RunState.TURN_COMPLETED}
