"""Usage limits on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.contract.conftest import agent_token, finished, receive_until
from tests.server import Client, ServerProcess

FIELDS = {
    *("account", "agent", "kind", "used_percent", "resets_at", "until", "waiting_inputs"),
}
ACCOUNT = "scripted:local"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    settings = {"NAVI_MODEL": "scripted", "NAVI_USAGE_LIMITS_SPACING_SECONDS": "0"}
    with ServerProcess(tmp_path, settings=settings) as server:
        yield server


async def limited(client: Client, script: str = "[[say: I try]] [[limit: 3600]]") -> str:
    session_id = await client.session()
    await client.say(session_id, script)
    await finished(client, session_id)
    return session_id


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def test_a_limit_is_listed_with_what_waits_for_it_and_announced(client: Client) -> None:
    assert await client.call("GET", "/limits") == []
    async with client.watch(after=0) as socket:
        session_id = await limited(client)
        update = await receive_until(socket, "limit_update")

    [limit] = await client.call("GET", "/limits")
    assert set(limit) == FIELDS
    assert (limit["account"], limit["agent"], limit["kind"]) == (ACCOUNT, "scripted", "usage")
    assert (limit["used_percent"], limit["waiting_inputs"]) == (None, 1)
    resets_at, until = instant(limit["resets_at"]), instant(limit["until"])
    assert until - resets_at == timedelta(seconds=30)
    assert timedelta(minutes=55) < resets_at - datetime.now(UTC) <= timedelta(hours=1)

    frame = update[-1] if isinstance(update, list) else update
    assert set(frame["limit"]) == FIELDS
    assert (frame["session_id"], frame["limit"]["account"]) == (session_id, ACCOUNT)
    session = await client.call("GET", f"/sessions/{session_id}")
    assert (session["limit_until"], session["last_outcome"]) == (limit["until"], "limit")
    assert session["attention"] == "unread"
    [waiting] = await client.call("GET", f"/sessions/{session_id}/queue")
    assert waiting["not_before"] == limit["until"]


async def test_an_input_that_showed_nothing_is_queued_again_under_its_own_id(
    client: Client,
) -> None:
    session_id = await client.session()
    sent = await client.say(session_id, "[[limit: 3600]]")
    await finished(client, session_id)
    [waiting] = await client.call("GET", f"/sessions/{session_id}/queue")
    assert waiting["id"] == sent["input_id"]
    answer = await client.call("GET", f"/sessions/{session_id}/input/{sent['input_id']}")
    assert answer["status"] == "queued"
    assert await client.call("GET", f"/sessions/{session_id}/messages") == []


async def test_a_limit_that_a_person_ignores_holds_nothing(client: Client) -> None:
    session_id = await limited(client)
    assert await client.call("POST", "/limits/ignore", {"account": ACCOUNT}) == []
    ends = [each for each in await finished(client, session_id, 2) if each["type"] == "stream_end"]
    assert [end["outcome"] for end in ends] == ["limit", "ok"]
    session = await client.call("GET", f"/sessions/{session_id}")
    assert session["limit_until"] is None
    assert await client.call("GET", "/limits") == []


async def test_the_limit_of_an_unknown_account_cannot_be_ignored(client: Client) -> None:
    refusal: Any = await client.call("POST", "/limits/ignore", {"account": "nobody"}, expect=404)
    assert refusal["error"]["kind"] == "account_not_found"


async def test_an_agent_may_see_its_limits_but_not_ignore_them(
    client: Client, server: ServerProcess
) -> None:
    session_id = await limited(client)
    token = await agent_token(client, session_id)
    async with Client(server.address, token, 30) as agent:
        await agent.call("POST", "/limits/ignore", {}, expect=403)
        [limit] = await agent.call("GET", "/limits")
        assert limit["waiting_inputs"] == 1
