from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navi.base.errors import InvalidInput
from navi.live.model.scheduling.limits import LONGEST_SECONDS
from navi.live.model.scheduling.recall import (
    CallType,
    Recall,
    RecallStatus,
    instruction_warning,
    next_occurrence,
    parse_interval,
    require_interval,
    require_when,
)

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@given(st.integers(1, 10**6), st.integers(-(10**6), 10**7))
def test_the_next_beat_is_the_first_after_now_and_on_the_beat(interval: int, late: int) -> None:
    now = NOON + timedelta(seconds=late)

    beat = next_occurrence(NOON, interval, now)

    assert beat.at > now
    assert (beat.at - NOON) % timedelta(seconds=interval) == timedelta(0)
    if late >= 0:
        assert beat.at - timedelta(seconds=interval) <= now
        assert beat.missed == late // interval


def test_ten_beats_of_downtime_are_ten_missed_ones() -> None:
    beat = next_occurrence(NOON, 60, NOON + timedelta(minutes=10, seconds=5))
    assert (beat.at, beat.missed) == (NOON + timedelta(minutes=11), 10)


@pytest.mark.parametrize(
    "text",
    [
        "Read /tmp/build.log with filesystem. If errors, report the last 50 lines.",
        "Poll https://example.org/status and compare with status.json.",
        "Run `make test` in the terminal and report failures.",
        # From the manual of the tool:
        "Check the /tmp/build.log file with filesystem tool. If the build succeeded, report the "
        "result. If it failed, read the last 50 lines of the log and tell the user what is wrong.",
        "Continue Nginx configuration from step 3: edit /etc/nginx/sites-available/default and "
        "reload.",
        "Read /var/log/myapp/errors.log. If new ERROR lines appeared, summarize them.",
        "Execute the full data migration plan from scratchpad_id='migration_plan'. Report progress "
        "and any errors.",
        # From our own:
        "Go on with step 3: edit sites-available/default, then reload.",
        "Read plan.md; begin step 1.",
        "Compile main.c again.",
    ],
)
def test_an_instruction_that_names_what_to_work_on_needs_no_warning(text: str) -> None:
    assert instruction_warning(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Tell the user that 2 hours have passed.",
        "Tell the user that /tmp/build.log is done.",
        "Remind me about lunch.",
        "Go on.",
        "Say e.g. hello",
        "Say hello at 9 a.m. and/or later, i.e. 2.5 hours from now.",
    ],
)
def test_a_note_to_a_person_is_answered_with_a_better_wording(text: str) -> None:
    warning = instruction_warning(text)
    assert warning is not None
    assert "filesystem" in warning


def test_a_beat_is_a_duration_longer_than_nothing() -> None:
    assert parse_interval("1h 30m") == 5_400
    with pytest.raises(InvalidInput) as refused:
        parse_interval("0m")
    assert 'the shortest is "1s", the longest 10 years' in refused.value.hint
    with pytest.raises(InvalidInput) as refused:
        parse_interval("9s", shortest=10)
    assert 'the shortest is "10s"' in refused.value.hint


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


@pytest.mark.parametrize("interval", [None, 0, -1, LONGEST_SECONDS + 1, 10**12])
def test_an_interval_is_between_a_second_and_ten_years(interval: int | None) -> None:
    with pytest.raises(InvalidInput):
        require_interval(CallType.RECURRING, interval)
    for possible in (1, LONGEST_SECONDS):
        assert require_interval(CallType.RECURRING, possible) == possible


def test_what_does_not_go_with_the_type_of_a_recall_is_not_ignored() -> None:
    with pytest.raises(
        InvalidInput, match="interval_seconds can't be combined with call_type once"
    ):
        require_interval(CallType.ONCE, 60)
    with pytest.raises(InvalidInput, match="when can't be combined with call_type immediate"):
        require_when(CallType.IMMEDIATE, "1h")
    # Models often send null for what they mean to leave out.
    assert require_interval(CallType.IMMEDIATE, None) is None
    assert require_when(CallType.IMMEDIATE, " ") == "now"
