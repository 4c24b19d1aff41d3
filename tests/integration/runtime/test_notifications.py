"""Notifications reach a person once, when they should, in order of importance."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, timedelta
from typing import Any

import httpx2
import pytest
import sqlalchemy
from sqlalchemy import Connection

from navi.live.api.application import build
from navi.live.model.access.caller import Caller
from navi.live.model.notification import Notification
from navi.live.model.question import (
    Decision,
    Question,
    QuestionAnswer,
    QuestionClosed,
    QuestionState,
)
from navi.live.model.scheduling.automation_request import AutomationRequest
from navi.live.model.session import Session
from navi.live.runtime.notifications.channel_setup import channels_of, rules_of
from navi.live.runtime.settings import NotificationSettings
from navi.live.store import notifications
from navi.live.store.damage import set_aside
from tests.live_world import LOCAL, Start, World
from tests.phone import Phone, ringing_phone

NEED = '[[need: terminal | {"command": "echo ran >> ran.txt"}]] [[say: done with it]]'
ASK = "[[say: a moment]] [[ask: Which database? | SQLite | PostgreSQL]] [[say: good choice]]"
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
ALLOW = QuestionAnswer(Decision.ALLOW)
PUBLIC = "https://navi.example.com"


@pytest.fixture
def phone() -> Iterator[Phone]:
    with ringing_phone() as phone:
        yield phone


def settings(phone: Phone, **more: Any) -> NotificationSettings:
    """Everything goes to the webhook, whether or not the person is active."""
    return NotificationSettings(**{"webhook": phone.address, "active_minutes": 0, **more})


async def settle(world: World, **by: float) -> None:
    """Move the clock, and return once everything that is due was sent or put off."""
    await world.forward(**by)
    world.navi.notifications.delivery.wake()
    await world.navi.notifications.delivery.wait_until_idle()


async def session_with_question(
    world: World, text: str = NEED, **fields: Any
) -> tuple[Session, Question]:
    session = await world.session(**fields)
    await world.say(session, text)

    async def look() -> list[Question]:
        return await world.navi.questions.list_questions(LOCAL, session.id, QuestionState.OPEN)

    (question,) = await world.until(look)
    return session, question


async def stored(world: World) -> list[Notification]:
    """Oldest first."""
    return list(reversed(await world.navi.notifications.service.list_notifications(LOCAL)))


async def test_a_question_is_sent_at_once_with_its_key(start: Start, phone: Phone) -> None:
    async with start(notifications=settings(phone)) as world:
        session, question = await session_with_question(world, name="builder")
        await settle(world)

        (message,) = phone.requests
        assert message["title"] == "builder needs permission"
        assert "echo ran >> ran.txt" in message["text"]
        assert message["id"] == message["headers"]["idempotency-key"] == f"question.{question.id}"
        assert (message["session_id"], message["question_id"]) == (session.id, question.id)
        assert (message["link"], message["answer_link"]) == (None, None)
        (row,) = await stored(world)
        assert (row.state, row.sent_at) == ("sent", world.clock.moment)
        await settle(world, hours=1)
        assert len(phone.requests) == 1


async def test_secrets_are_masked_before_they_are_stored(start: Start, phone: Phone) -> None:
    async with start(notifications=settings(phone)) as world:
        command = f"curl -H 'Authorization: Bearer {SECRET}' example.com"
        await session_with_question(world, f'[[need: terminal | {{"command": "{command}"}}]]')
        await settle(world)

        assert "curl" in phone.requests[0]["text"]
        assert SECRET not in str(phone.requests)
        assert SECRET not in str(await stored(world))


async def test_without_quotes_only_the_session_is_named(start: Start, phone: Phone) -> None:
    async with start(notifications=settings(phone, quote=False)) as world:
        await session_with_question(world, name="builder")
        await settle(world)
        (message,) = phone.requests
        assert (message["title"], message["text"]) == ("builder needs permission", "")


async def test_a_finished_session_is_sent_unless_a_person_looks(start: Start, phone: Phone) -> None:
    async with start(notifications=settings(phone)) as world:
        watched, alone = await world.session(name="watched"), await world.session(name="alone")
        for session in (watched, alone):
            await world.say(session, "[[say: all tests pass]]")
            await world.ended(session)
        await settle(world)
        assert phone.requests == []

        await world.navi.sessions.change(LOCAL, watched.id, {"unread": False})
        await settle(world, seconds=31)

        assert [(each["title"], each["text"]) for each in phone.requests] == [
            ("alone finished", "all tests pass")
        ]
        states = {row.title: row.state for row in await stored(world)}
        assert states == {"watched finished": "skipped", "alone finished": "sent"}


async def test_a_failed_session_is_sent_and_a_stopped_one_is_not(
    start: Start, phone: Phone
) -> None:
    async with start(notifications=settings(phone)) as world:
        failing, stopped = await world.session(name="failing"), await world.session(name="stopped")
        await world.say(failing, "[[fail: the disk is full]]")
        await world.ended(failing)
        await world.say(stopped, "[[sleep: 600]]")
        await world.started(stopped)
        await world.navi.sessions.stop(LOCAL, stopped.id)
        await world.ended(stopped)
        await settle(world, seconds=31)
        assert phone.titles == ["failing failed"]


async def test_an_automation_that_keeps_failing_is_reported(start: Start, phone: Phone) -> None:
    async with start(notifications=settings(phone, failed=[])) as world:
        session = await world.session()
        await world.navi.automations.add(
            LOCAL,
            session.id,
            AutomationRequest(
                name="nightly", message="[[fail: no]]", every_seconds=60, max_failures=1
            ),
        )
        await world.forward(seconds=61)
        await world.ended(session)
        await settle(world)
        assert phone.titles == ["Automation nightly is switched off"]


async def test_an_answered_question_is_not_sent_late(start: Start, phone: Phone) -> None:
    async with start(notifications=settings(phone, active_minutes=5)) as world:
        session, question = await session_with_question(world)
        await settle(world)
        assert phone.requests == []

        await world.navi.questions.answer(Caller(LOCAL), question.id, ALLOW, "sm")
        await world.ended(session)
        await settle(world, minutes=10)

        assert "May I" not in str(phone.requests)
        (row,) = [each for each in await stored(world) if each.question_id == question.id]
        assert (row.state, row.reason) == ("skipped", "it was settled before it was sent")


async def test_a_person_who_is_active_is_left_alone_for_a_while(start: Start, phone: Phone) -> None:
    async with start(notifications=settings(phone, active_minutes=5)) as world:
        await session_with_question(world)
        await settle(world, minutes=4)
        assert phone.requests == []
        assert (await stored(world))[0].reason == "you are active"

        await settle(world, minutes=2)
        assert len(phone.requests) == 1


async def test_after_an_hour_without_the_channel_each_arrives_once_and_by_importance(
    start: Start, phone: Phone
) -> None:
    phone.status = 503
    async with start(notifications=settings(phone)) as world:
        finished = await world.session(name="finished")
        await world.say(finished, "[[say: ready]]")
        await world.ended(finished)
        failing = await world.session(name="failing")
        await world.say(failing, "[[fail: no]]")
        await world.ended(failing)
        await settle(world, seconds=31)
        await session_with_question(world, ASK, name="asking")
        for _ in range(6):
            await settle(world, minutes=5)
        assert phone.taken == []
        rows = await stored(world)
        assert {row.state for row in rows} == {"waiting"}
        assert {row.reason for row in rows} == {"webhook: answered with status 503"}

    # Another server goes on after the first one has ended.
    async with start(notifications=settings(phone)) as world:
        for _ in range(6):
            await settle(world, minutes=5)
        assert phone.taken == []
        phone.status = 200
        await settle(world, minutes=11)

        assert phone.titles == ["asking asks", "failing failed", "finished finished"]
        assert len([each for each in phone.requests if each["status"] == 200]) == 3
        assert {row.state for row in await stored(world)} == {"sent"}


async def test_a_channel_that_is_down_is_not_tried_for_each_notification(
    start: Start, phone: Phone
) -> None:
    phone.status = 503
    async with start(notifications=settings(phone)) as world:
        for _ in range(5):
            await session_with_question(world)
        await settle(world)
        assert len(phone.requests) == 1


async def test_what_a_dead_server_had_claimed_is_sent_once_its_lease_ends(
    start: Start, phone: Phone
) -> None:
    chosen = settings(phone)
    rules = rules_of(chosen, channels_of(chosen), UTC)
    async with start() as dead:
        session, _ = await session_with_question(dead, ASK)
        await dead.ended(session)
        now = dead.clock.moment
        # It may have been sent, but that was never recorded.
        lease = now + timedelta(seconds=30)
        claim = await dead.navi.store.transact(notifications.claim, rules, now, lease)
        assert claim is not None
    async with start(notifications=chosen) as world:
        await settle(world)
        assert phone.requests == []
        await settle(world, seconds=31)
        assert len(phone.requests) == 1
        # The dead server's result comes too late: its fence is gone.
        await world.navi.store.transact(notifications.record, claim, {}, now)
        assert [row.state for row in await stored(world)] == ["sent"]


async def test_a_damaged_notification_is_set_aside_and_the_others_are_sent(
    start: Start, phone: Phone
) -> None:
    async with start() as before:
        for name in ("one", "two"):
            session, _ = await session_with_question(before, ASK, name=name)
            await before.ended(session)
        rows = await stored(before)

        def damage(connection: Connection) -> None:
            text = "UPDATE notifications SET kind = 'pigeon' WHERE id = :id"
            connection.execute(sqlalchemy.text(text), {"id": min(row.id for row in rows)})

        await before.navi.store.transact(damage)
    async with start(notifications=settings(phone)) as world:
        await settle(world)
        assert len(phone.requests) == 1
        aside = await world.navi.store.transact(set_aside.list_rows)
        assert [(row.kind, row.row_id) for row in aside] == [
            ("notification", min(row.id for row in rows))
        ]


async def test_two_servers_send_each_notification_once(start: Start, phone: Phone) -> None:
    both = settings(phone)
    async with start(notifications=both) as first, start(notifications=both) as second:
        for _ in range(6):
            await session_with_question(first)
        for _ in range(3):
            for world in (first, second):
                await settle(world, seconds=1)
        assert len(phone.requests) == len(phone.taken) == 6


async def test_a_notification_that_no_channel_takes_is_given_up_and_reported(
    start: Start, phone: Phone
) -> None:
    phone.status = 503
    async with start(notifications=settings(phone, give_up_hours=1)) as world:
        await session_with_question(world)
        await settle(world)
        await settle(world, minutes=50)
        assert [row.state for row in await stored(world)] == ["waiting"]
        await settle(world, minutes=20)
        (row,) = await stored(world)
        assert (row.state, row.reason) == ("failed", "webhook: answered with status 503")


async def test_a_message_that_is_refused_does_not_hold_up_others(
    start: Start, phone: Phone
) -> None:
    phone.status = 413
    async with start(notifications=settings(phone)) as world:
        await session_with_question(world)
        await settle(world)
        phone.status = 200
        await session_with_question(world)
        await settle(world)
        assert {row.state for row in await stored(world)} == {"failed", "sent"}


async def test_only_the_channel_that_failed_is_tried_again(start: Start, phone: Phone) -> None:
    with ringing_phone() as other:
        other.status = 503
        chosen = settings(phone, ntfy=f"{other.address}/topic")
        async with start(notifications=chosen) as world:
            await session_with_question(world)
            await settle(world)
            other.status = 200
            await settle(world, minutes=1)
            assert (len(phone.requests), len(other.taken)) == (1, 1)


async def test_quiet_hours_end_with_one_digest(start: Start, phone: Phone) -> None:
    quiet = settings(phone, quiet_from="11:00", quiet_until="15:00", public_url=PUBLIC, finished=[])
    async with start(notifications=quiet) as world:
        failing = await world.session(name="failing")
        await world.say(failing, "[[fail: the disk is full]]")
        await world.ended(failing)
        await session_with_question(world, ASK, name="asking")
        other, settled = await session_with_question(world, name="settled")
        await settle(world, minutes=1)
        assert phone.requests == []
        await world.navi.questions.answer(Caller(LOCAL), settled.id, ALLOW, "page")
        await world.ended(other)

        await settle(world, hours=2)
        assert phone.taken == []
        await settle(world, hours=1)

        (message,) = phone.taken
        assert message["title"] == "2 things happened during your quiet hours"
        question, link, failure = message["text"].splitlines()
        assert question.startswith("asking asks: Which database?")
        assert link.startswith(f"{PUBLIC}/a/")
        assert failure == "failing failed: the disk is full"
        states = sorted(row.state for row in await stored(world))
        assert states == ["in_digest", "in_digest", "sent", "skipped", "skipped"]


async def test_questions_can_be_exempt_from_quiet_hours(start: Start, phone: Phone) -> None:
    quiet = settings(phone, quiet_from="11:00", quiet_until="14:00", quiet_except=["question"])
    async with start(notifications=quiet) as world:
        await session_with_question(world)
        await settle(world)
        assert len(phone.requests) == 1


async def test_what_waited_alone_in_quiet_hours_is_sent_as_itself(
    start: Start, phone: Phone
) -> None:
    quiet = settings(phone, quiet_from="11:00", quiet_until="14:00")
    async with start(notifications=quiet) as world:
        await session_with_question(world, name="asking")
        await settle(world)
        await settle(world, hours=3)
        assert phone.titles == ["asking needs permission"]


async def test_a_button_of_ntfy_answers_the_question_once(start: Start, phone: Phone) -> None:
    chosen = NotificationSettings(
        ntfy=f"{phone.address}/topic", ntfy_token="tk", active_minutes=0, public_url=PUBLIC
    )
    async with start(notifications=chosen) as world:
        session, question = await session_with_question(world)
        await settle(world)
        (message,) = phone.requests
        assert (message["path"], message["topic"]) == ("/", "topic")
        assert message["headers"]["authorization"] == "Bearer tk"
        assert (message["priority"], message["tags"]) == (5, ["question"])
        allow, deny = message["actions"]
        assert message["click"] == allow["url"] == deny["url"]

        pressed = await press(world, allow)
        assert (pressed.status_code, pressed.json()["answered_via"]) == (200, "notification")
        assert (await world.outcomes(session, 1)) == ["ok"]
        again, late = await press(world, allow), await press(world, deny)

        assert again.status_code == 200
        assert late.status_code == 409
        assert "already answered by local, from notification" in late.json()["error"]["message"]
        answered = await world.navi.questions.get(LOCAL, question.id)
        assert answered.answer == ALLOW


async def test_opening_a_link_does_not_answer(start: Start, phone: Phone) -> None:
    async with start(notifications=settings(phone, public_url=PUBLIC)) as world:
        _, question = await session_with_question(world, ASK)
        await settle(world)
        link = phone.requests[0]["answer_link"]
        async with browser(world) as client:
            page = await client.get(link)
            assert page.status_code == 200
            assert "Which database?" in page.text
            assert 'value="PostgreSQL"' in page.text
            assert (await world.navi.questions.get(LOCAL, question.id)).is_open

            form = {"decision": "choose", "choices": "PostgreSQL"}
            answered = await client.post(link, data=form, headers={"Origin": PUBLIC})
            assert (answered.status_code, "PostgreSQL" in answered.text) == (200, True)
            late = await client.get(link)
        assert late.status_code == 409
        assert "already answered by local, from notification" in late.text


async def test_a_link_cannot_do_more_than_answer(start: Start, phone: Phone) -> None:
    async with start(notifications=settings(phone, public_url=PUBLIC)) as world:
        _, question = await session_with_question(world)
        await settle(world)
        link = phone.requests[0]["answer_link"]
        async with browser(world) as client:
            wide = await client.post(link, json={"decision": "allow_always"})
            guess = await client.post(f"{PUBLIC}/a/guess", json={"decision": "allow"})
        assert (wide.status_code, guess.status_code) == (422, 404)
        assert (await world.navi.questions.get(LOCAL, question.id)).is_open


async def test_a_link_expires_with_its_question(start: Start, phone: Phone) -> None:
    async with start(notifications=settings(phone, public_url=PUBLIC)) as world:
        await session_with_question(world)
        await settle(world)
        token = phone.requests[0]["answer_link"].rpartition("/")[2]
        await world.forward(days=1, seconds=1)
        with pytest.raises(QuestionClosed, match="closed by its deadline"):
            await world.navi.notifications.links.answer(token, ALLOW)


async def test_an_answer_from_the_phone_does_not_make_a_person_active(
    start: Start, phone: Phone
) -> None:
    async with start(notifications=settings(phone, active_minutes=5, public_url=PUBLIC)) as world:
        await session_with_question(world)
        await settle(world, minutes=6)
        token = phone.requests[0]["answer_link"].rpartition("/")[2]
        await world.navi.notifications.links.answer(token, ALLOW)
        since = world.clock.moment - timedelta(minutes=5)
        last = await world.navi.store.transact(notifications.last_active_at, LOCAL.id, since)
        assert last is None


async def press(world: World, button: dict[str, Any]) -> httpx2.Response:
    """What a phone does when somebody presses a button of a notification."""
    async with browser(world) as client:
        return await client.request(
            button["method"], button["url"], content=button["body"], headers=button["headers"]
        )


def browser(world: World) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=build(world.navi)))
