"""How long a question waits: what the agent, the automation, the session and the settings say."""

from __future__ import annotations

from datetime import timedelta

import pytest

from navi.base.errors import InvalidInput
from navi.cli.sm.words import deadline_minutes_of
from navi.live.model.question_deadline import (
    LONGEST_MINUTES,
    QUESTION_DEADLINE,
    question_deadline,
    require_question_deadline,
)

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
HALF_HOUR = timedelta(minutes=30)


@pytest.mark.parametrize(
    ("session", "automation", "expected"),
    [
        (None, None, DAY),
        (60, None, HOUR),
        (60, 30, HALF_HOUR),
        (30, 60, HOUR),
        (None, 30, HALF_HOUR),
    ],
)
def test_an_automation_goes_before_its_session_and_that_before_the_settings(
    session: int | None, automation: int | None, expected: timedelta
) -> None:
    metadata = {} if automation is None else {QUESTION_DEADLINE: automation}
    assert question_deadline(None, session, metadata, DAY) == expected


def test_zero_waits_forever_although_the_session_and_the_settings_do_not() -> None:
    assert question_deadline(None, 0, {}, DAY) is None
    assert question_deadline(None, 60, {QUESTION_DEADLINE: 0}, DAY) is None
    assert question_deadline(None, 0, {QUESTION_DEADLINE: 30}, None) == HALF_HOUR


def test_an_agent_may_ask_for_a_shorter_deadline_than_a_person_chose() -> None:
    assert question_deadline(HALF_HOUR, 60, {}, DAY) == HALF_HOUR
    assert question_deadline(HALF_HOUR, 0, {}, DAY) == HALF_HOUR
    assert question_deadline(DAY, 60, {}, DAY) == HOUR


def test_an_agent_may_name_any_deadline_if_only_the_settings_have_one() -> None:
    assert question_deadline(2 * DAY, None, {}, DAY) == 2 * DAY
    assert question_deadline(HOUR, None, {}, None) == HOUR


@pytest.mark.parametrize("minutes", [-1, LONGEST_MINUTES + 1, 10**30])
def test_an_impossible_deadline_is_refused_with_the_possible_ones(minutes: int) -> None:
    with pytest.raises(InvalidInput, match="question_deadline_minutes is") as refusal:
        require_question_deadline(minutes)
    assert "0 waits forever" in (refusal.value.hint or "")


@pytest.mark.parametrize(
    ("text", "minutes"),
    [(None, None), ("0", 0), ("0m", 0), ("30m", 30), ("1h 30m", 90), ("8h", 480), ("61s", 2)],
)
def test_a_deadline_is_written_as_a_duration(text: str | None, minutes: int | None) -> None:
    assert deadline_minutes_of(text) == minutes


@pytest.mark.parametrize("text", ["30", "soon", "", "-5m"])
def test_a_deadline_without_a_unit_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="as a duration"):
        deadline_minutes_of(text)
