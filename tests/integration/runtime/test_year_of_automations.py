"""A year of automations in virtual time, on the real scheduler and a real store.

What ran, when, and what was missed is compared with what a person with a calendar, a clock on the
wall and the list of outages would expect. Neither the cron library nor Navi's own arithmetic is
part of that.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count, product
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection

from navi.base.ids import new_id
from navi.live.model.event import TextDelta, Usage
from navi.live.model.message import drafts_of
from navi.live.model.scheduling.automation import ON_TIME, Automation, CatchUp, Guards, Kind, Target
from navi.live.model.scheduling.schedule import At, Cron, Every, Schedule
from navi.live.model.session import Session
from navi.live.model.turn import Ending, Outcome
from navi.live.runtime.scheduler import due_loop
from navi.live.runtime.scheduler.due_loop import DueLoop
from navi.live.runtime.scheduler.system_jobs import hidden_session
from navi.live.store import lanes, sessions, turns
from navi.live.store.due.contract import Claimed
from navi.live.store.due.due_automations import DueAutomations
from navi.live.store.engine import schema
from navi.live.store.engine.dialects.sqlite import sqlite_url
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import automations, hidden_sessions
from tests.hand_clock import HandClock
from tests.postgres import PostgresServer
from tests.unit.model.wall_clock import MINUTE, Pattern, Wall, utc

pytestmark = pytest.mark.proof

START, HORIZON = utc(2026, 1, 1), utc(2027, 3, 1)
END = utc(2027, 1, 1, 0, 7)
"""Nothing is due at that minute: what is due in the next second may have been claimed."""
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)

ZONES = {
    # With the days on which clocks are set, and those around them: by an hour, half an hour, at
    # midnight, in the southern half, around Ramadan, at 02:45; and three where they never are.
    "Europe/Berlin": "24-26,28-30 3,10",
    "Europe/London": "24-26,28-30 3,10",
    "America/New_York": "1,2,7-9 3,11",
    "America/Santiago": "4-7 4,9",
    "America/Havana": "1,2,7-9 3,11",
    "Australia/Lord_Howe": "3-6 4,10",
    "Australia/Sydney": "3-6 4,10",
    "Pacific/Chatham": "4-6,26-28 4,9",
    "Africa/Casablanca": "14-16,21-23 2,3",
    "Asia/Kathmandu": "1-5 6",
    "Asia/Tokyo": "1-5 6",
    "UTC": "1-5 6",
}
ON_THOSE_DAYS = ("30 2 {} *", "30 0 {} *", "0 */6 {} *")
ALL_YEAR = ("0 9 1 * *", "15 17 15 */2 *", "45 23 31 * *", "0 0 1 1,7 *", "20 4 * 5 0")


@dataclass
class Kept:
    """A run as seen from outside."""

    due_at: datetime
    fired_at: datetime
    ended_at: datetime | None = None


@dataclass
class Open:
    """A turn that takes its time."""

    turn: turns.TurnStart
    end_at: datetime
    event_count: int


@dataclass
class Machine:
    """A server in virtual time: it works, is shut down now and then, and starts again."""

    url: str
    chance: random.Random
    clock: HandClock = field(default_factory=lambda: HandClock(START))
    outages: list[tuple[datetime, datetime]] = field(default_factory=list)
    runs: dict[str, dict[str, Kept]] = field(default_factory=dict)
    """By automation and run."""
    open: list[Open] = field(default_factory=list)
    expected: list[datetime] = field(default_factory=list)
    """The instants of inputs that were admitted ahead."""
    given_back: int = 0
    failed: int = 0

    @property
    def now(self) -> datetime:
        return self.clock.moment

    def start(self) -> None:
        self.store = Store(self.url)
        self.store.start()
        # The scheduler only calls a queue's `expect`.
        self.scheduler = DueLoop(self.store, self.clock, [DueAutomations(5)], self)  # type: ignore[arg-type]

    def expect(self, claimed: Claimed) -> None:
        for each in claimed.inputs:
            assert each.not_before is not None
            assert self.now >= each.not_before - timedelta(seconds=1)
            self.expected.append(each.not_before)

    async def live_until(self, end: datetime) -> None:
        outage = self.now + timedelta(days=self.chance.uniform(5, 12))
        while self.now < end:
            await self.end_turns()
            next_at = await self.scheduler.claim_due()
            while await self.begin_turns():
                # The end of a turn wakes the scheduler.
                next_at = await self.scheduler.claim_due()
            self.expected = [at for at in self.expected if at > self.now]
            following = min([next_at, *self.expected, *(each.end_at for each in self.open), end])
            if following >= outage:
                await self.restart(outage)
                outage = self.now + timedelta(days=self.chance.uniform(5, 40))
            else:
                self.clock.moment = max(self.now, following)

    async def restart(self, at: datetime) -> None:
        """Off for a moment, some hours or many days. Running turns die."""
        await self.store.close()
        length = self.chance.choice([timedelta(seconds=20), 5 * HOUR, 60 * HOUR, 15 * DAY])
        self.clock.moment = at + self.chance.uniform(0.5, 1) * length
        self.outages.append((at, self.now))
        self.start()
        for dead in await self.store.transact(lanes.running):
            assert await self.store.transact(turns.close_dead, dead, self.now)
        for each in self.open:
            if each.event_count:
                self.failed += 1
                self.run_of(each.turn).ended_at = self.now
            else:
                self.given_back += 1
        self.open.clear()

    async def end_turns(self) -> None:
        over = [each for each in self.open if each.end_at <= self.now]
        self.open = [each for each in self.open if each.end_at > self.now]
        if over:
            await self.store.transact(self.finish, over)

    async def begin_turns(self) -> bool:
        waiting = await self.store.transact(lanes.ready, self.now, 1_000)
        ready = [each.session_id for each in waiting]
        if ready:
            await self.store.transact(self.begin, ready)
        return bool(ready)

    def begin(self, connection: Connection, session_ids: Sequence[str]) -> None:
        at_once = []
        for session_id in session_ids:
            claim = turns.Claim(new_id(), "me", self.now + timedelta(days=99), self.now)
            begun = turns.begin(connection, session_id, claim)
            assert begun is not None
            trigger = begun.turn.input
            of_automation = self.runs.setdefault(trigger.metadata["automation_id"], {})
            due_at, queued_at = trigger.not_before, trigger.queued_at
            assert due_at is not None
            assert queued_at is not None
            assert due_at <= self.now
            # One that was given back has been here before.
            kept = of_automation.setdefault(trigger.id, Kept(due_at, max(due_at, queued_at)))
            assert (kept.due_at, kept.ended_at) == (due_at, None)
            if self.chance.random() < 0.05:
                # Not on a whole minute, so that nothing is due just when it ends.
                took = self.chance.uniform(0.1, 20) * DAY + timedelta(microseconds=123)
                event_count = self.chance.randint(0, 1)
                if event_count:
                    turns.extend(connection, begun.turn, 0, [TextDelta("so far")], self.now)
                self.open.append(Open(begun, self.now + took, event_count))
            else:
                at_once.append(Open(begun, self.now, 0))
        self.finish(connection, at_once)

    def finish(self, connection: Connection, over: Sequence[Open]) -> None:
        for each in over:
            events = [TextDelta("done")]
            turns.finish(
                connection,
                each.turn.turn,
                each.event_count,
                events,
                drafts_of(events),
                Ending(Outcome.OK),
                Usage(),
                self.now,
            )
            self.run_of(each.turn).ended_at = self.now

    def run_of(self, begun: turns.TurnStart) -> Kept:
        trigger = begun.turn.input
        return self.runs[trigger.metadata["automation_id"]][trigger.id]


# The automations of the year.


def automation(
    number: int, schedule: Schedule, session_id: str | None, guards: Guards
) -> Automation:
    return Automation(
        id=f"{number:03}",
        user_id="local",
        name=f"number {number}",
        kind=Kind.AGENT_TURN,
        session_key=session_id,
        schedule=schedule,
        message="look",
        enabled=True,
        catch_up=list(CatchUp)[number % 3],
        guards=replace(guards, max_failures=1_000),
        target=Target(),
        next_run_at=None,
        created_at=START,
        updated_at=START,
    )


def planned(total: int, chance: random.Random) -> list[Automation]:
    """A third each of instants, intervals and expressions; some with limits, a fifth unbound."""
    schedules: list[Schedule] = []
    shapes = [
        Cron(shape.format(days), zone)
        for (zone, days), shape in product(ZONES.items(), ON_THOSE_DAYS)
    ]
    shapes += [Cron(expr, zone) for zone, expr in product(ZONES, ALL_YEAR)]
    chance.shuffle(shapes)
    for number in range(total // 3):
        schedules.append(At(START + chance.randint(1, 364 * 24 * 4) * timedelta(minutes=15)))
        schedules.append(Every(3600 * chance.choice([1_000, 2_000, 4_000]), START))
        schedules.append(shapes[number % len(shapes)])
    made = []
    for number, schedule in enumerate(schedules):
        expires_at = START + chance.randint(40, 300) * DAY + 12 * HOUR
        guards = chance.choices(
            [Guards(), Guards(max_runs=chance.randint(1, 8)), Guards(expires_at=expires_at)],
            [6, 1, 0 if isinstance(schedule, At) else 1],
        )[0]
        if guards.expires_at and occurrences(schedule)[0] > guards.expires_at:
            guards = Guards()
        # Two share a session, so that one waits while the other runs.
        session_id = None if number % 5 == 0 else f"session-{number // 2}"
        made.append(automation(number, schedule, session_id, guards))
    return made


def keep(connection: Connection, made: Sequence[Automation]) -> None:
    for each in made:
        first = each.schedule.next_after(START)
        following = replace(each, next_run_at=first)
        if each.session_key is None:
            session = hidden_session(each, "/", "scripted", START)
            hidden_sessions.add_or_update(connection, session, following, START)
        else:
            sessions.create(connection, _session(each.session_key))
            automations.add(connection, following)


def _session(session_id: str) -> Session:
    return Session.new("local", "scripted", "/", START, id=session_id, name="year")


# What a person would expect.


@cache
def occurrences(schedule: Schedule) -> list[datetime]:
    """All occurrences in the year and after it, up to the horizon."""
    match schedule:
        case At(at):
            return [at]
        case Every(seconds, anchor):
            endless = (anchor + number * timedelta(seconds=seconds) for number in count(1))
            occurrences = []
            while (occurrence := next(endless)) < HORIZON:
                occurrences.append(occurrence)
            return occurrences
        case Cron(expr, zone):
            pattern = Pattern.of(expr)
            by = _by_the_wall if pattern.follows_real_time else _by_the_calendar
            return by(expr, zone)


def _by_the_wall(expr: str, zone: str) -> list[datetime]:
    """Minute by minute, in the months that are named."""
    moments: set[datetime] = set()
    for month in Pattern.of(expr).months:
        for year in (2026, 2027) if month < HORIZON.month else (2026,):
            start = utc(year, month, 1) - DAY
            moments.update(Wall.between(zone, start, start + 33 * DAY).occurrences(expr))
    return sorted(each for each in moments if START < each < HORIZON)


def _by_the_calendar(expr: str, zone: str) -> list[datetime]:
    """Day by day: a time that does not exist is moved on, one that comes twice counts once."""
    pattern, place = Pattern.of(expr), ZoneInfo(zone)
    moments: set[datetime] = set()
    day = datetime(2025, 12, 31)  # noqa: DTZ001 - what a calendar says, in no zone
    while day < HORIZON.replace(tzinfo=None):
        for hour, minute in product(pattern.hours, pattern.minutes):
            local = day.replace(hour=hour, minute=minute)
            if not pattern.fits(local):
                continue
            while (there := _instant(local, place)) is None:
                local += MINUTE
            moments.add(there)
        day += DAY
    return sorted(each for each in moments if START < each < HORIZON)


def _instant(local: datetime, place: ZoneInfo) -> datetime | None:
    """When the local clock first shows this time; None if it never does."""
    there = local.replace(tzinfo=place, fold=0).astimezone(UTC)
    return there if there.astimezone(place).replace(tzinfo=None) == local else None


@dataclass
class Expected:
    runs: list[tuple[datetime, datetime]] = field(default_factory=list)
    """When each was due, and when it fired."""
    missed: int = 0
    next_run_at: datetime | None = HORIZON
    """None if nothing comes any more."""


def expected(made: Automation, machine: Machine) -> Expected:
    """Of `machine` it uses only the outages and how long each run took."""
    expires_at = made.guards.expires_at
    ends = {run.due_at: run.ended_at for run in machine.runs.get(made.id, {}).values()}
    total = Expected()
    left = [each for each in occurrences(made.schedule) if not expires_at or each <= expires_at]
    busy_until: datetime | None = START
    is_limited = False
    while left:
        looked_at = _is_seen(left[0], machine)
        if made.catch_up is CatchUp.ALL and busy_until is not None:
            # It waits for the one before, and then for a server.
            looked_at = _is_seen(max(looked_at, busy_until), machine)
        if looked_at >= machine.now or (made.catch_up is CatchUp.ALL and busy_until is None):
            break
        is_expired = expires_at is not None and looked_at - expires_at > ON_TIME
        if made.catch_up is CatchUp.ALL and not is_expired:
            due = [left.pop(0)]
        else:
            due = [each for each in left if each <= looked_at]
            del left[: len(due)]
        is_late = made.catch_up is CatchUp.SKIP and looked_at - due[-1] > ON_TIME
        is_busy = busy_until is None or busy_until > looked_at
        if is_expired or is_late or is_busy:
            total.missed += len(due)
            continue
        total.missed += len(due) - 1
        total.runs.append((due[-1], looked_at))
        busy_until = ends.get(due[-1])
        if len(total.runs) == made.guards.max_runs:
            left, is_limited = [], True
    is_limited |= expires_at is not None or isinstance(made.schedule, At)
    total.next_run_at = left[0] if left else None if is_limited else HORIZON
    return total


def _is_seen(moment: datetime, machine: Machine) -> datetime:
    """That moment, or the server's next start."""
    for off, on in machine.outages:
        if off <= moment < on:
            return on
    return moment


# The year.


async def play(url: str, total: int) -> tuple[Machine, list[Automation], int]:
    """Also return how many occurrences were missed."""
    schema.prepare(url)
    chance = random.Random(2026)
    machine = Machine(url, chance)
    machine.start()
    made = planned(total, chance)
    await machine.store.transact(keep, made)
    await machine.live_until(END)
    missed = 0
    for each in made:
        current = await machine.store.transact(automations.get, each.id)
        should = expected(each, machine)
        ran = sorted((run.due_at, run.fired_at) for run in machine.runs.get(each.id, {}).values())
        assert ran == should.runs, each
        assert current.missed_count == should.missed, each
        following = current.next_run_at or current.held_at
        assert (following and min(following, HORIZON)) == should.next_run_at, each
        is_running = any(run.ended_at is None for run in machine.runs.get(each.id, {}).values())
        assert (current.active_run_state is not None) == is_running, each
        # An automation whose last run goes on has not ended.
        assert current.enabled == (should.next_run_at is not None or is_running), each
        assert current.run_count == len(should.runs)
        missed += should.missed
    await machine.store.close()
    return machine, made, missed


@pytest.fixture(autouse=True)
def sleep_as_long_as_nothing_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the scheduler would look every minute of the year."""
    monkeypatch.setattr(due_loop, "LONGEST_SLEEP", END - START)


async def test_a_year_of_five_hundred_automations_in_twelve_zones(tmp_path: Path) -> None:
    machine, made, missed = await play(sqlite_url(tmp_path / "navi.sqlite3"), 501)

    runs = [run for runs in machine.runs.values() for run in runs.values()]
    assert len(made) == 501
    assert {each.schedule.tz for each in made if isinstance(each.schedule, Cron)} == ZONES.keys()
    assert len(runs) > 1_500
    assert missed > 100
    assert len(machine.outages) > 8
    assert machine.given_back
    assert machine.failed


async def test_a_year_of_automations_on_postgresql_too(postgres: PostgresServer) -> None:
    machine, _, _ = await play(postgres.create_database(), 24)

    assert len(machine.outages) > 8


def test_the_calendar_and_the_wall_tell_the_same() -> None:
    """Two ways to compute what is expected check each other."""
    for zone, days in list(ZONES.items())[:9:4]:
        for expr in (shape.format(days) for shape in ON_THOSE_DAYS[:2]):
            assert _by_the_wall(expr, zone) == _by_the_calendar(expr, zone)
