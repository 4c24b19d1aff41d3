"""The typed client against a real server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from navi import __version__
from navi.base.errors import NotAuthenticated
from navi.client import Client, Server, ServerRefused
from navi.live.model.input import DeliveryMode
from navi.live.model.scheduling.recall import CallType
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.model.wire_format import (
    AdmissionJson,
    InboxItemJson,
    QuestionJson,
    RecallJson,
    ScheduledJson,
    SessionJson,
)
from tests.server import ServerProcess


@pytest.fixture
def navi(server: ServerProcess) -> Client:
    return Client(Server(server.address, server.token, "the test"))


def test_the_servers_values_have_the_fields_of_their_types(navi: Client) -> None:
    session = navi.create_session(name="typed", driver="scripted")
    assert set(session) == set(SessionJson.__annotations__)
    admitted = navi.send(session["id"], "hello", delivery_mode=DeliveryMode.IMPORTANT)
    assert set(admitted) == set(AdmissionJson.__annotations__)
    made = navi.schedule_recall(
        session["id"],
        RecallRequest(call_type=CallType.ONCE, when="1h", additional_context_message="Read a.log"),
    )
    assert set(made) == set(ScheduledJson.__annotations__)
    assert set(navi.recall(session["id"])) == set(RecallJson.__annotations__)


def test_what_is_asked_and_answered_has_the_fields_of_its_type(navi: Client) -> None:
    session_id = navi.create_session(driver="scripted")["id"]
    sent = navi.send(session_id, "[[ask: Which database? | SQLite | PostgreSQL]]")
    assert navi.answer(session_id, sent["input_id"], 60)["outcome"] == "ok"
    (item,) = [each for each in navi.inbox(tz="UTC") if each["session_id"] == session_id]
    assert set(item) == set(InboxItemJson.__annotations__)
    (question,) = navi.questions(session_id=session_id)
    assert set(question) == set(QuestionJson.__annotations__)
    assert item["question"] == question
    assert navi.snooze(item["id"], "1h")["snoozed_until"] is not None
    assert item["id"] in [each["id"] for each in navi.inbox(snoozed=True)]
    closed = navi.answer_question(question["id"], "choose", choices=["SQLite"])
    assert closed == navi.question(question["id"])
    assert navi.questions(state="open", session_id=session_id) == []


def test_sessions_are_found_by_what_they_are(navi: Client) -> None:
    parent = navi.create_session(driver="scripted")["id"]
    child = navi.create_session(driver="scripted", parent_id=parent)["id"]
    assert [each["id"] for each in navi.sessions(parent_id=parent)] == [child]
    assert navi.session(child)["parent_id"] == parent
    assert child not in [each["id"] for each in navi.sessions(pending_recall=True)]
    assert navi.stop(child) is False


def test_a_recall_is_scheduled_skipped_cancelled_and_listed(navi: Client) -> None:
    session_id = navi.create_session(driver="scripted")["id"]
    made = navi.schedule_recall(
        session_id,
        RecallRequest(
            call_type=CallType.RECURRING,
            when="1h",
            interval_seconds=900,
            timezone_offset="+02:00",
            internal_comment="why",
            additional_context_message="Read a.log",
        ),
    )
    assert "+02:00" in made["reading"]
    assert navi.skip_recall(session_id)["trigger_at"] > made["trigger_at"]
    assert navi.cancel_recall(session_id)["status"] == "cancelled"
    assert [each["id"] for each in navi.recalls(session_id)] == [made["id"]]


def test_what_the_server_refuses_is_passed_on_as_it_said_it(navi: Client) -> None:
    session_id = navi.create_session(driver="scripted")["id"]
    with pytest.raises(ServerRefused) as refused:
        navi.recall(session_id)
    error = refused.value
    assert (error.status, error.server_kind) == (404, "no_pending_recall")
    assert error.message == f"session {session_id} has no pending recall"
    assert error.hint == "schedule one, or list past recalls"


@pytest.mark.parametrize("session_id", ["../health", "a/b?c#d", "ü", "%2e"])
def test_an_id_is_never_taken_for_a_path(navi: Client, session_id: str) -> None:
    with pytest.raises(ServerRefused) as refused:
        navi.session(session_id)
    assert refused.value.status == 404


def test_a_wrong_token_says_where_it_came_from(server: ServerProcess) -> None:
    with pytest.raises(NotAuthenticated, match="access token from NAVI_TOKEN"):
        Client(Server(server.address, "wrong", "NAVI_TOKEN")).sessions()


def test_a_missing_token_says_where_it_should_be(server: ServerProcess) -> None:
    with pytest.raises(NotAuthenticated, match="no access token in NAVI_TOKEN or some/where/token"):
        Client(Server(server.address, None, "some/where/token")).sessions()


def test_now_is_the_servers_time(navi: Client) -> None:
    assert navi.health()["version"] == __version__
    assert abs(navi.now() - datetime.now(UTC)) < timedelta(seconds=30)
