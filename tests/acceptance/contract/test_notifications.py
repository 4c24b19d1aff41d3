"""Notifications over the wire: the list, the test, and the links that answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest

from tests.acceptance.contract.command_runs import navi, run
from tests.acceptance.contract.conftest import agent_token, finished
from tests.phone import Phone, ringing_phone
from tests.server import Client, ServerProcess
from tests.waiting import eventually

FIELDS = {
    *("id", "kind", "session_id", "question_id", "title", "text", "importance", "state"),
    *("reason", "digest_id", "attempts", "deliveries", "created_at", "due_at", "sent_at"),
}
ASK = "[[ask: Which database? | SQLite | PostgreSQL]]"
PUBLIC_HOST = "navi.example.com"


@dataclass(frozen=True)
class Notifying:
    """A server that notifies a phone, and is reached from it under a public name."""

    server: ServerProcess
    phone: Phone

    async def link(self, client: Client, text: str = ASK) -> str:
        """The path of the link that answers a new question of a new session."""
        session_id = await client.session()
        await client.say(session_id, text)

        def of_session() -> list[str]:
            return [
                each["answer_link"]
                for each in self.phone.taken
                if each.get("session_id") == session_id
            ]

        (link,) = await eventually(of_session, "a link")
        assert link.startswith(f"https://{PUBLIC_HOST}/a/")
        return str(link.removeprefix(f"https://{PUBLIC_HOST}"))

    def stranger(self) -> httpx2.AsyncClient:
        """A browser without a login, behind the proxy of the public name."""
        headers = {"Host": PUBLIC_HOST, "X-Forwarded-Proto": "https"}
        return self.server.stranger(headers)


@pytest.fixture(scope="module")
def notifying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notifying]:
    with ringing_phone() as phone:
        settings = {
            "NAVI_NOTIFICATIONS_WEBHOOK": phone.address,
            "NAVI_NOTIFICATIONS_NTFY": "http://127.0.0.1:9/topic",
            "NAVI_NOTIFICATIONS_ACTIVE_MINUTES": "0",
            "NAVI_NOTIFICATIONS_PUBLIC_URL": f"https://{PUBLIC_HOST}",
        }
        home = tmp_path_factory.mktemp("notifying")
        with ServerProcess(home, settings=settings) as server:
            yield Notifying(server, phone)


async def test_a_notification_is_listed_with_what_each_channel_said(notifying: Notifying) -> None:
    async with notifying.server.client() as client:
        await notifying.link(client)

        async def recorded() -> list[dict[str, object]]:
            listed = await client.call("GET", "/notifications?state=waiting")
            return [each for each in listed if each["deliveries"]]

        newest = (await eventually(recorded))[0]
        refused = await client.call("GET", "/notifications?state=lost", expect=422)
    assert set(newest) == FIELDS
    assert newest["deliveries"]["webhook"]["error"] is None
    assert "can't reach it" in newest["deliveries"]["ntfy"]["error"]
    assert "waiting, sent" in refused["error"]["hint"]


async def test_a_test_goes_to_every_channel_or_to_one(notifying: Notifying) -> None:
    async with notifying.server.client() as client:
        everywhere = await client.call("POST", "/notifications/test", {})
        unknown = await client.call(
            "POST", "/notifications/test", {"channel": "pigeon"}, expect=422
        )
    assert [each["channel"] for each in everywhere] == ["webhook", "ntfy"]
    assert unknown["error"]["hint"] == "one of: webhook, ntfy"


def test_the_command_says_what_each_channel_answers(notifying: Notifying) -> None:
    assert json.loads(navi(notifying.server, "notify", "test", "webhook", "--json")) == [
        {"channel": "webhook", "error": None}
    ]
    server = notifying.server
    environment = {**server.environment, "NAVI_URL": server.address}
    all_channels = run(["navi", "notify", "test"], environment)
    assert all_channels.returncode == 1
    assert all_channels.stdout.splitlines()[0].split() == ["webhook", "sent"]


async def test_without_a_channel_a_test_says_what_to_do(client: Client) -> None:
    refused = await client.call("POST", "/notifications/test", {}, expect=422)
    assert "under [notifications] in the settings" in refused["error"]["hint"]


async def test_an_agent_may_not_use_the_channels(notifying: Notifying) -> None:
    async with notifying.server.client() as client:
        token = await agent_token(client, await client.session())
    async with Client(notifying.server.address, token, 30) as agent:
        await agent.call("POST", "/notifications/test", {}, expect=403)


async def test_a_stranger_with_the_link_answers_once(notifying: Notifying) -> None:
    async with notifying.server.client() as client, notifying.stranger() as stranger:
        path = await notifying.link(client)
        page = await stranger.get(path)
        assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
        assert "form-action 'self'" in page.headers["content-security-policy"]

        origin = {"Origin": f"https://{PUBLIC_HOST}"}
        form = {"decision": "choose", "choices": "PostgreSQL", "text": ""}
        answered = await stranger.post(path, data=form, headers=origin)
        assert (answered.status_code, "PostgreSQL" in answered.text) == (200, True)

        late = await stranger.post(path, json={"decision": "deny"})
        error = late.json()["error"]
        assert (late.status_code, error["kind"]) == (409, "question_closed")
        assert "answered by local, from notification" in error["message"]
        (question,) = [
            each
            for each in await client.call("GET", "/questions?state=answered")
            if each["title"] == "Which database?"
        ]
        assert question["answered_via"] == "notification"
        await finished(client, question["session_id"], 2)


async def test_another_site_cannot_send_the_form(notifying: Notifying) -> None:
    async with notifying.server.client() as client, notifying.stranger() as stranger:
        path = await notifying.link(client)
        headers = {"Origin": "https://evil.example"}
        refused = await stranger.post(path, data={"decision": "deny"}, headers=headers)
        assert refused.status_code == 403
        assert (await stranger.get(path)).status_code == 200


async def test_what_an_agent_asks_is_shown_as_text_and_masked(notifying: Notifying) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    async with notifying.server.client() as client, notifying.stranger() as stranger:
        path = await notifying.link(client, f"[[ask: <script>x</script> {secret} | <b>yes</b>]]")
        page = (await stranger.get(path)).text
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page
    assert secret not in page


async def test_a_form_without_an_answer_changes_nothing(notifying: Notifying) -> None:
    async with notifying.server.client() as client, notifying.stranger() as stranger:
        path = await notifying.link(client)
        assert (await stranger.post(path, data={"decision": ""})).status_code == 422
        assert (await stranger.post(path, data={"decision": "choose"})).status_code == 422
        assert (await stranger.get(path)).status_code == 200
        assert (await stranger.get("/a/guess")).status_code == 404


async def test_the_doctor_shows_what_waits_for_a_channel(notifying: Notifying) -> None:
    async with notifying.server.client() as client:
        await notifying.link(client)

        async def failed_on_a_channel() -> bool:
            waiting = await client.call("GET", "/notifications?state=waiting")
            return any(each["deliveries"] for each in waiting)

        await eventually(failed_on_a_channel)
    findings = doctor(notifying.server)
    (finding,) = [each for each in findings if each["name"] == "notify"]
    assert finding["status"] == "note"
    assert "still waiting for a channel" in finding["detail"]


def doctor(server: ServerProcess) -> list[dict[str, str]]:
    environment = {**server.environment, "NAVI_URL": server.address}
    done = run(["navi", "doctor", "--json"], environment)
    findings: list[dict[str, str]] = json.loads(done.stdout)
    return findings
