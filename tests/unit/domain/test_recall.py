from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navi.domain.errors import InvalidInput
from navi.domain.recall import (
    LIMIT_PAUSE,
    CallType,
    Recall,
    RecallStatus,
    fires_again_at,
    instruction_warning,
    next_beat,
    parse_interval,
)
from navi.domain.turn import Ending, Outcome

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@given(st.integers(1, 10**6), st.integers(-(10**6), 10**7))
def test_the_next_beat_is_the_first_after_now_and_on_the_beat(interval: int, late: int) -> None:
    now = NOON + timedelta(seconds=late)

    beat = next_beat(NOON, interval, now)

    assert beat.at > now
    assert (beat.at - NOON) % timedelta(seconds=interval) == timedelta(0)
    if late >= 0:
        assert beat.at - timedelta(seconds=interval) <= now
        assert beat.missed == late // interval


def test_ten_beats_of_downtime_are_ten_missed_ones() -> None:
    beat = next_beat(NOON, 60, NOON + timedelta(minutes=10, seconds=5))
    assert (beat.at, beat.missed) == (NOON + timedelta(minutes=11), 10)


@pytest.mark.parametrize(
    "text",
    [
        "Read /tmp/build.log with filesystem. If errors, report the last 50 lines.",
        "Poll https://example.org/status and compare with status.json.",
        "Run `make test` in the terminal and report failures.",
    ],
)
def test_an_instruction_that_names_what_to_work_on_needs_no_warning(text: str) -> None:
    assert instruction_warning(text) is None


@pytest.mark.parametrize(
    "text", ["Tell the user that 2 hours have passed.", "Remind me about lunch.", "Go on."]
)
def test_a_note_to_a_person_is_answered_with_a_better_wording(text: str) -> None:
    warning = instruction_warning(text)
    assert warning is not None
    assert "filesystem" in warning


def test_a_beat_is_a_duration_longer_than_nothing() -> None:
    assert parse_interval("1h 30m") == 5_400
    with pytest.raises(InvalidInput) as refused:
        parse_interval("0m")
    assert "15m" in refused.value.hint


def a_recall(interval_seconds: int | None) -> Recall:
    return Recall(
        id="r",
        session_id="s",
        call_type=CallType.ONCE if interval_seconds is None else CallType.RECURRING,
        trigger_at=NOON,
        due_at=NOON,
        interval_seconds=interval_seconds,
        internal_comment=None,
        additional_context_message="Read build.log",
        status=RecallStatus.RUNNING,
        outcome=None,
        error=None,
        missed_count=0,
        created_at=NOON,
        updated_at=NOON,
    )


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("resets_at", "again_at"),
    [
        (NOON + HOUR, NOON + HOUR),
        (None, NOON + LIMIT_PAUSE),
        (NOON, NOON + LIMIT_PAUSE),
        (NOON - HOUR, NOON + LIMIT_PAUSE),
    ],
)
def test_after_a_limit_a_one_time_recall_fires_again_at_the_reset_or_after_a_pause(
    resets_at: datetime | None, again_at: datetime
) -> None:
    ending = Ending(Outcome.LIMIT, "limited", resets_at=resets_at)
    assert fires_again_at(a_recall(None), ending, NOON) == again_at


def test_nothing_but_a_limit_lets_a_one_time_recall_fire_again() -> None:
    for outcome in set(Outcome) - {Outcome.LIMIT}:
        assert fires_again_at(a_recall(None), Ending(outcome), NOON) is None
    assert fires_again_at(a_recall(60), Ending(Outcome.LIMIT), NOON) is None
