from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navi.base.errors import InvalidInput
from navi.live.model.scheduling.automation import (
    ON_TIME,
    Automation,
    CatchUp,
    Category,
    Ended,
    Guards,
    Kind,
    Plan,
    Target,
    first_run,
    plan,
    require_guards,
    require_open_guards,
    run_id,
)
from navi.live.model.scheduling.schedule import At, Cron, Every, Schedule
from tests.unit.model.wall_clock import utc

MADE = utc(2026, 1, 1)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
HOURLY = Every(3600, MADE)

UNHURRIED = settings(deadline=None)


def automation(schedule: Schedule = HOURLY, **fields: Any) -> Automation:
    values: dict[str, Any] = {
        "id": "a",
        "user_id": "local",
        "name": "monitor",
        "kind": Kind.AGENT_TURN,
        "session_key": "s",
        "schedule": schedule,
        "message": "look",
        "enabled": True,
        "catch_up": CatchUp.ONCE,
        "guards": Guards(),
        "target": Target(),
        "next_run_at": schedule.next_after(MADE),
        "created_at": MADE,
        "updated_at": MADE,
    }
    return Automation(**{**values, **fields})


@pytest.mark.parametrize("catch_up", list(CatchUp))
@pytest.mark.parametrize("late", [timedelta(0), SECOND, ON_TIME])
def test_on_time_it_runs_whatever_it_would_catch_up(catch_up: CatchUp, late: timedelta) -> None:
    due = automation(catch_up=catch_up)
    assert plan(due, MADE + HOUR + late) == Plan(MADE + HOUR, 0, MADE + 2 * HOUR, None)


@pytest.mark.parametrize(
    ("catch_up", "expected"),
    [
        # The last of the five runs, four are missed.
        (CatchUp.ONCE, Plan(MADE + 5 * HOUR, 4, MADE + 6 * HOUR, None)),
        (CatchUp.SKIP, Plan(None, 5, MADE + 6 * HOUR, None)),
        (CatchUp.ALL, Plan(MADE + HOUR, 0, MADE + 2 * HOUR, None)),
    ],
)
def test_what_passed_in_the_meantime_is_caught_up_as_configured(
    catch_up: CatchUp, expected: Plan
) -> None:
    assert plan(automation(catch_up=catch_up), MADE + 5 * HOUR + ON_TIME + SECOND) == expected


def test_what_is_skipped_is_only_what_is_late() -> None:
    """Back just in time for the last run: it runs, the others are missed."""
    due = automation(catch_up=CatchUp.SKIP)
    assert plan(due, MADE + 5 * HOUR + SECOND) == Plan(MADE + 5 * HOUR, 4, MADE + 6 * HOUR, None)


def test_an_instant_that_passed_is_run_late_or_skipped_but_only_once() -> None:
    at = automation(At(MADE + HOUR))
    late = MADE + 5 * HOUR
    assert plan(at, late) == Plan(MADE + HOUR, 0, None, Ended.DONE)
    assert plan(replace(at, catch_up=CatchUp.ALL), late) == Plan(MADE + HOUR, 0, None, Ended.DONE)
    assert plan(replace(at, catch_up=CatchUp.SKIP), late) == Plan(None, 1, None, Ended.DONE)


@pytest.mark.parametrize("catch_up", list(CatchUp))
def test_the_last_occurrence_before_it_expires_runs_and_ends_it(catch_up: CatchUp) -> None:
    due = automation(catch_up=catch_up, guards=Guards(expires_at=MADE + 90 * 60 * SECOND))
    assert plan(due, MADE + HOUR) == Plan(MADE + HOUR, 0, None, Ended.EXPIRED)


def test_it_may_run_at_the_very_moment_it_expires() -> None:
    due = automation(guards=Guards(expires_at=MADE + 2 * HOUR))
    assert plan(due, MADE + HOUR).next_run_at == MADE + 2 * HOUR
    last = replace(due, next_run_at=MADE + 2 * HOUR)
    assert plan(last, MADE + 2 * HOUR + SECOND) == Plan(MADE + 2 * HOUR, 0, None, Ended.EXPIRED)


@pytest.mark.parametrize("catch_up", list(CatchUp))
def test_what_expired_while_nobody_was_there_is_missed_and_not_run(catch_up: CatchUp) -> None:
    due = automation(catch_up=catch_up, guards=Guards(expires_at=MADE + 3 * HOUR))
    assert plan(due, MADE + 10 * HOUR) == Plan(None, 3, None, Ended.EXPIRED)


@UNHURRIED
@given(
    catch_up=st.sampled_from(CatchUp),
    schedule=st.sampled_from([HOURLY, Every(10, MADE), Cron("*/20 * * * *", "UTC")]),
    lives=st.none() | st.integers(1, 600),
    looks=st.lists(st.integers(1, 200), min_size=1, max_size=30),
)
def test_each_occurrence_is_run_or_missed_once_whenever_one_looks(
    catch_up: CatchUp,
    schedule: Schedule,
    lives: int | None,
    looks: list[int],
) -> None:
    """Looks come at random intervals; each runs whatever is due."""
    expires_at = None if lives is None else MADE + lives * 60 * SECOND
    now = MADE
    current = automation(schedule, catch_up=catch_up, guards=Guards(expires_at=expires_at))
    if expires_at is not None and current.next_run_at and current.next_run_at > expires_at:
        return
    ran: list[datetime] = []
    missed = 0
    ended = None
    for minutes in looks:
        now += minutes * 60 * SECOND
        while current.next_run_at is not None and current.next_run_at <= now:
            done = plan(current, now)
            missed += done.missed
            if done.run_due_at is not None:
                assert done.run_due_at <= now
                ran.append(done.run_due_at)
            ended = done.ended
            assert (ended is None) == (done.next_run_at is not None)
            current = replace(current, next_run_at=done.next_run_at, run_count=len(ran))
    assert ran == sorted(set(ran))
    assert expires_at is None or all(each <= expires_at for each in ran)
    until = expires_at if ended is Ended.EXPIRED and expires_at else now
    occurrences = []
    moment = schedule.next_after(MADE)
    while moment is not None and moment <= until:
        occurrences.append(moment)
        moment = schedule.next_after(moment)
    assert set(ran) <= set(occurrences)
    assert len(ran) + missed == len(occurrences)


def test_a_first_run_that_never_comes_is_refused() -> None:
    with pytest.raises(InvalidInput, match="its time is in the past"):
        first_run(At(MADE - SECOND), MADE)
    assert first_run(HOURLY, MADE) == MADE + HOUR
    early = automation(guards=Guards(expires_at=MADE + 59 * 60 * SECOND))
    with pytest.raises(InvalidInput, match="expire before it ever runs"):
        require_open_guards(early, MADE + HOUR)
    require_open_guards(automation(guards=Guards(expires_at=MADE + HOUR)), MADE + HOUR)


@pytest.mark.parametrize("name", ["max_runs", "max_failures", "time_limit_seconds"])
@pytest.mark.parametrize("value", [-1, 0, 10**9, 10**20])
def test_limits_outside_their_range_are_refused_with_it(name: str, value: int) -> None:
    limits: dict[str, Any] = {"max_runs": None, "max_failures": 5, "time_limit_seconds": None}
    with pytest.raises(InvalidInput, match=f"{name} is {value}") as refused:
        require_guards(MADE, expires_at=None, **{**limits, name: value})
    most = 315_619_200 if name == "time_limit_seconds" else 1_000_000
    assert f"from 1 to {most}" in refused.value.hint


def test_its_kind_and_session_say_what_it_is() -> None:
    bound = automation()
    legacy = automation(session_key=None)
    system = automation(session_key=None, kind=Kind.HEARTBEAT)
    event = automation(kind=Kind.SYSTEM_EVENT)
    assert [each.category for each in (bound, legacy, system, event)] == [
        Category.BOUND,
        Category.LEGACY,
        Category.SYSTEM,
        Category.SYSTEM,
    ]
    assert [each.session_id for each in (bound, legacy)] == ["s", "cron:a"]


def test_a_run_is_named_after_its_automation_and_the_millisecond() -> None:
    assert run_id("abc", utc(2026, 2, 2, 3, 4, 5)) == "abc:1770001445000"
