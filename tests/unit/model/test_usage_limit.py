from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from navi.live.model.event import UsageWindow
from navi.live.model.input import DeliveryMode, Input, Origin
from navi.live.model.permission_policy import ON_PERMISSION
from navi.live.model.usage_limit import (
    CONTINUE,
    Account,
    AccountLimit,
    RetryPolicy,
    after_giving_up,
    after_lifting,
    after_limit,
    after_success,
    continuation,
    continued_inputs,
    gave_up_words,
    reports,
    take_slot,
)

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
ACCOUNT = Account("claude_code:local", "claude_code", "local")
FREE = AccountLimit(ACCOUNT)
POLICY = RetryPolicy(max_probes=3)


def met(
    limit: AccountLimit, now: datetime, resets_at: datetime | None = None
) -> AccountLimit | None:
    return after_limit(limit, "five_hour", resets_at, now, POLICY)


def limited(resets_at: datetime | None = None, now: datetime = NOON) -> AccountLimit:
    after = met(FREE, now, resets_at)
    assert after is not None
    return after


def an_input(origin: Origin = Origin.AGENT, queued_at: datetime = NOON, **fields: object) -> Input:
    values = {"id": "i", "session_id": "s", "text": "go", "origin": origin, "queued_at": queued_at}
    return Input(**{**values, **fields})  # type: ignore[arg-type]


def test_an_account_is_tried_again_a_margin_after_the_reset_that_was_named() -> None:
    limit = limited(NOON + HOUR)
    assert limit.retry_at == NOON + HOUR + POLICY.margin
    assert limit.is_in_force(NOON + HOUR)
    assert not limit.is_in_force(NOON + HOUR + POLICY.margin)


def test_of_two_resets_named_side_by_side_the_later_one_counts() -> None:
    limit = met(limited(NOON + 2 * HOUR), NOON + MINUTE, NOON + HOUR)
    assert limit is not None
    assert limit.retry_at == NOON + 2 * HOUR + POLICY.margin


@pytest.mark.parametrize("resets_at", [None, NOON, NOON - HOUR])
def test_without_a_reset_in_the_future_the_pauses_double_and_end(
    resets_at: datetime | None,
) -> None:
    limit, now, pauses = FREE, NOON, []
    while (after := met(limit, now, resets_at)) is not None:
        assert after.retry_at is not None
        pauses.append(after.retry_at - now)
        limit, now = after, after.retry_at
    assert pauses == [MINUTE, 2 * MINUTE, 4 * MINUTE]
    assert limit.limited_at == NOON


def test_no_pause_is_longer_than_the_longest() -> None:
    policy = RetryPolicy(longest_pause=5 * MINUTE, max_probes=100)
    limit, now = FREE, NOON
    for _ in range(90):
        after = after_limit(limit, "usage", None, now, policy)
        assert after is not None
        assert after.retry_at is not None
        assert after.retry_at - now <= 5 * MINUTE
        limit, now = after, after.retry_at


def test_turns_that_ran_side_by_side_count_as_one_probe() -> None:
    limit = limited()
    assert met(limit, NOON + 10 * SECOND) == limit


def test_an_account_that_was_given_up_is_not_held_and_stays_given_up_until_a_success() -> None:
    limit: AccountLimit | None = limited()
    assert limit is not None
    for _ in range(2):
        assert limit.retry_at is not None
        limit = met(limit, limit.retry_at)
        assert limit is not None
    now = NOON + HOUR
    limit = after_giving_up(limit, now)
    assert not limit.is_in_force(now)
    assert met(limit, now + MINUTE) is None
    assert after_success(limit, now + MINUTE) == replace(after_lifting(limit))
    assert met(after_lifting(limit), now + MINUTE) is not None


def test_a_limit_met_days_later_is_a_new_one() -> None:
    after = met(replace(limited(), probes=2), NOON + timedelta(days=2))
    assert after is not None
    assert (after.probes, after.limited_at) == (0, NOON + timedelta(days=2))


def test_probes_set_to_none_give_up_at_once() -> None:
    assert after_limit(FREE, "usage", None, NOON, RetryPolicy(max_probes=0)) is None
    assert after_limit(FREE, "usage", NOON + HOUR, NOON, RetryPolicy(max_probes=0)) is not None


def test_sessions_go_on_one_after_the_other_the_first_well_ahead() -> None:
    limit = limited(NOON + HOUR)
    slots = []
    for _ in range(4):
        place, limit = take_slot(limit, POLICY)
        slots.append(place - NOON - HOUR - POLICY.margin)
    lead, step = POLICY.lead, POLICY.spacing
    assert slots == [timedelta(0), lead, lead + step, lead + 2 * step]


def test_when_a_limit_lasts_longer_its_places_are_given_out_again() -> None:
    _, limit = take_slot(limited(NOON + HOUR), POLICY)
    later = met(limit, NOON + HOUR + MINUTE, NOON + 2 * HOUR)
    assert later is not None
    assert take_slot(later, POLICY)[0] == NOON + 2 * HOUR + POLICY.margin


FROM_PEOPLE = (Origin.USER, Origin.ANSWER)


@pytest.mark.parametrize("origin", [each for each in Origin if each not in FROM_PEOPLE])
def test_whatever_no_person_sent_waits(origin: Origin) -> None:
    limit = limited(NOON + HOUR)
    assert limit.holds(an_input(origin, NOON + MINUTE), NOON + MINUTE)
    assert not limit.holds(an_input(origin, NOON + MINUTE), NOON + 2 * HOUR)


def test_what_a_person_sends_despite_the_limit_does_not_wait_but_what_they_sent_before_does() -> (
    None
):
    limit = limited(NOON + HOUR)
    assert not limit.holds(an_input(Origin.USER, NOON + MINUTE), NOON + MINUTE)
    assert limit.holds(an_input(Origin.USER, NOON - MINUTE), NOON + MINUTE)
    retried = an_input(Origin.USER, NOON + MINUTE, limit_account=ACCOUNT.id)
    assert limit.holds(retried, NOON + MINUTE)


def test_only_a_turn_after_a_named_reset_shows_that_the_limit_has_gone() -> None:
    limit = limited(NOON + HOUR)
    assert after_success(limit, NOON + MINUTE) == limit
    assert after_success(limit, NOON + 2 * HOUR) == after_lifting(limit)


def test_without_a_named_reset_any_turn_that_began_since_shows_it() -> None:
    limit = limited()
    assert after_success(limit, NOON - MINUTE) == limit
    assert after_success(limit, NOON + SECOND) == after_lifting(limit)
    assert after_success(FREE, NOON) == FREE


def test_a_report_names_every_allowance_and_the_limit_in_force_has_the_waiting_inputs() -> None:
    weekly = UsageWindow("seven_day", 40.0, NOON + 90 * HOUR)
    limit = replace(limited(NOON + HOUR), windows={"seven_day": weekly})
    first, second = reports(limit, 3, NOON)
    assert (first.kind, first.used_percent, first.resets_at) == ("five_hour", None, NOON + HOUR)
    assert (first.until, first.waiting_inputs) == (NOON + HOUR + POLICY.margin, 3)
    assert (second.kind, second.used_percent, second.until) == ("seven_day", 40.0, None)
    assert second.waiting_inputs == 0
    assert reports(FREE, 0, NOON) == []


def test_a_continuation_stands_for_the_inputs_of_its_turn_and_goes_before_what_came_later() -> None:
    kept = {"time_limit_seconds": 60, ON_PERMISSION: "deny"}
    sender = {"sender": {"id": "p", "name": "lead"}, **kept}
    first = an_input(id="one", metadata=sender, remind_soft_threshold=90, notify_on_stop=True)
    new = continuation("t1", [first, an_input(id="two")], NOON + HOUR, ACCOUNT)
    assert (new.text, new.origin, new.delivery_mode) == (
        CONTINUE,
        Origin.AGENT,
        DeliveryMode.IMPORTANT,
    )
    assert (new.not_before, new.limit_account) == (NOON + HOUR, ACCOUNT.id)
    assert new.metadata == {**kept, "continues": ["one", "two"]}
    assert (new.remind_soft_threshold, new.notifies_person) == (90, False)

    again = continuation("t2", [an_input(id=new.id, metadata=new.metadata)], NOON, ACCOUNT)
    assert continued_inputs([an_input(metadata=again.metadata)]) == ["one", "two"]


def test_who_gave_up_says_how_often_it_was_tried() -> None:
    assert gave_up_words("overloaded", 12) == (
        "overloaded (tried again 12 times; send a message to try once more)"
    )
    assert gave_up_words(None, 0) == "a usage limit (send a message to try once more)"
