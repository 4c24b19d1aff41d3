"""What notifications say, and when they may be sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from navi.live.model.notification import (
    TEXT_LIMIT,
    Delivery,
    Notification,
    NotificationKind,
    digest_text,
    of_question,
    of_turn,
    quoted,
)
from navi.live.model.notification_rules import (
    ACTIVE,
    NO_CHANNEL,
    QUIET,
    Circumstances,
    Hold,
    QuietHours,
    Rules,
    Send,
    Skip,
    decide,
)
from navi.live.model.question import NewQuestion, Question, QuestionKind
from navi.live.model.session import Session
from navi.live.model.turn import Outcome

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
SESSION = Session.new("local", "scripted", "/", NOW, id="s1", name="builder")
NIGHT = QuietHours(time(22), time(7))
BERLIN = ZoneInfo("Europe/Berlin")


def notification(**fields: object) -> Notification:
    new = NewQuestion(QuestionKind.TEXT, "Which one?")
    notification = of_question(Question.create(new, "s1", None, NOW, None), SESSION, NOW)
    return replace(notification, **fields)  # type: ignore[arg-type]


def rules(**fields: object) -> Rules:
    channels = dict.fromkeys(NotificationKind, ("ntfy", "webhook"))
    return replace(Rules(channels, frozenset({"local"})), **fields)  # type: ignore[arg-type]


FINE = Circumstances(still_applies=True)


def test_a_question_quotes_the_command_once_and_its_options() -> None:
    new = NewQuestion(
        QuestionKind.PERMISSION,
        "Run this?",
        tool_name="Bash",
        tool_input={"command": "make all"},
    )
    notification = of_question(Question.create(new, "s1", None, NOW, None), SESSION, NOW)
    assert (notification.title, notification.text) == (
        "builder needs permission",
        "Run this?\nmake all",
    )


def test_the_same_question_has_the_same_key() -> None:
    new = NewQuestion(QuestionKind.TEXT, "Which one?", call_id="call-1")
    first, second = (Question.create(new, "s1", None, NOW, None) for _ in range(2))
    assert of_question(first, SESSION, NOW).id == of_question(second, SESSION, NOW).id


def test_a_secret_is_masked_even_where_the_text_is_cut() -> None:
    text = "x" * (TEXT_LIMIT - 10) + f" {SECRET}"
    assert "ghp_" not in quoted(text)
    assert len(quoted(text)) <= TEXT_LIMIT


def test_a_secret_in_a_title_is_masked() -> None:
    named = replace(SESSION, name=f"token {SECRET}", last_outcome=Outcome.OK, unread=True)
    finished = of_turn(named, "t1", "done", NOW)
    assert finished is not None
    assert SECRET not in finished.title


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"unread": True, "last_outcome": Outcome.OK}, NotificationKind.FINISHED),
        ({"unread": True, "last_outcome": Outcome.ERROR}, NotificationKind.FAILED),
        ({"unread": False, "last_outcome": Outcome.OK}, None),
        ({"unread": True, "last_outcome": Outcome.OK, "has_queue": True}, None),
        ({"unread": True, "last_outcome": Outcome.OK, "parent_id": "s0"}, None),
        ({"unread": True, "last_outcome": Outcome.OK, "waiting_for": "q1"}, None),
    ],
)
def test_a_turn_is_reported_only_if_its_session_needs_attention(
    changes: dict[str, object], kind: NotificationKind | None
) -> None:
    made = of_turn(replace(SESSION, **changes), "t1", "done", NOW)  # type: ignore[arg-type]
    assert (None if made is None else made.kind) == kind


def test_what_is_settled_is_skipped_before_anything_else() -> None:
    decision = decide(notification(), Circumstances(False), rules(quiet=NIGHT), NOW)
    assert isinstance(decision, Skip)


def test_channels_that_took_it_or_never_will_are_left_out() -> None:
    one_took_it = notification(deliveries={"ntfy": Delivery(sent_at=NOW)})
    assert decide(one_took_it, FINE, rules(), NOW) == Send(["webhook"])
    both = {"ntfy": Delivery(sent_at=NOW), "webhook": Delivery(error="no", is_refused=True)}
    assert decide(notification(deliveries=both), FINE, rules(), NOW) == Skip(NO_CHANNEL)
    failed = notification(deliveries={"ntfy": Delivery(error="status 503")})
    assert decide(failed, FINE, rules(), NOW) == Send(["ntfy", "webhook"])


@pytest.mark.parametrize(
    ("local", "end"),
    [
        ("2026-11-18 21:59", None),
        ("2026-11-18 22:00", "2026-11-19 07:00"),
        ("2026-11-19 06:59", "2026-11-19 07:00"),
        ("2026-11-19 07:00", None),
        # The night in which the clocks go back is an hour longer.
        ("2026-10-24 23:00", "2026-10-25 07:00"),
    ],
)
def test_quiet_hours_end_in_the_morning_of_the_persons_zone(local: str, end: str | None) -> None:
    now = datetime.fromisoformat(local).replace(tzinfo=BERLIN)
    expected = None if end is None else datetime.fromisoformat(end).replace(tzinfo=BERLIN)
    assert NIGHT.end_of(now.astimezone(UTC), BERLIN) == expected


def test_quiet_hours_within_a_day() -> None:
    lunch = QuietHours(time(12), time(13, 30))
    assert lunch.end_of(NOW, UTC) == NOW + timedelta(minutes=90)
    assert lunch.end_of(NOW - timedelta(minutes=1), UTC) is None


def test_quiet_hours_hold_everything_that_is_not_exempt() -> None:
    now = datetime(2026, 11, 18, 23, tzinfo=UTC)
    held = Hold(datetime(2026, 11, 19, 7, tzinfo=UTC), QUIET)
    assert decide(notification(), FINE, rules(quiet=NIGHT), now) == held
    exempt = replace(NIGHT, exempt=frozenset({NotificationKind.QUESTION}))
    assert isinstance(decide(notification(), FINE, rules(quiet=exempt), now), Send)


def test_a_person_who_is_active_is_left_alone() -> None:
    about = Circumstances(True, last_active_at=NOW - timedelta(minutes=1))
    minutes = timedelta(minutes=3)
    held = Hold(NOW + timedelta(minutes=2), ACTIVE)
    assert decide(notification(), about, rules(active_for=minutes), NOW) == held
    assert isinstance(decide(notification(), about, rules(), NOW), Send)


def test_a_digest_begins_with_what_is_most_important() -> None:
    finished = notification(id="a", title="one finished", text="", importance=2)
    open_question = notification(id="b", title="two asks", text="Why?\nReally?", question_id="q")
    text = digest_text([finished, open_question], {"q": "https://example.com/a/token"})
    assert text == "two asks: Why? Really?\nhttps://example.com/a/token\none finished"
    assert digest_text([open_question], quotes=False) == "two asks"
