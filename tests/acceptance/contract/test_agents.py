"""Agents that Navi started can do what their session's user can, for that session only."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from time import time
from typing import Any
from uuid import uuid4

import pytest

from tests.acceptance.contract.command_runs import navi
from tests.acceptance.contract.conftest import agent_token, finished, receive, receive_until
from tests.acceptance.contract.person import Person
from tests.server import Client, ServerProcess


class Agent:
    """The agent of a session, with the token that Navi gave it."""

    def __init__(self, client: Client, session_id: str) -> None:
        self.call = client.call
        self.client = client
        self.id = session_id


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def agent_in(stack: AsyncExitStack, owner: Client, **fields: Any) -> Agent:
    session_id = await owner.session(**fields)
    token = await agent_token(owner, session_id)
    return Agent(await stack.enter_async_context(Client(owner.address, token, 30)), session_id)


@pytest.fixture
async def agent(client: Client, stack: AsyncExitStack) -> Agent:
    return await agent_in(stack, client)


@pytest.fixture
async def bob(server: ServerProcess, stack: AsyncExitStack) -> Client:
    """A new user, who is not an admin."""
    added = navi(server, "user", "add", f"bob-{uuid4().hex[:8]}")
    client = Client(server.address, added.split()[-1], 30)
    return await stack.enter_async_context(client)


async def test_only_its_parent_or_a_person_may_end_a_session_whatever_the_agent_says(
    client: Client, agent: Agent, stack: AsyncExitStack
) -> None:
    parent = await client.session()
    other = await client.session(parent_id=parent)
    child = (await agent.call("POST", "/sessions", {"driver": "scripted"}, expect=201))["id"]

    for verb in ("clear", "kill"):
        refused = await agent.call("POST", f"/sessions/{other}/{verb}", {}, expect=403)
        assert "only its parent or a person may" in refused["error"]["message"]
        claim = {"requester_session_id": parent}
        await agent.call("POST", f"/sessions/{other}/{verb}", claim, expect=403)
        await agent.call("POST", f"/sessions/{child}/{verb}", {})
    await agent.call("DELETE", f"/sessions/{other}", expect=403)
    query = f"?requester_session_id={parent}"
    await agent.call("DELETE", f"/sessions/{other}{query}", expect=403)
    await agent.call("DELETE", f"/sessions/{child}")
    assert (await client.call("GET", f"/sessions/{other}"))["state"] == "idle"


async def test_sm_refuses_to_kill_for_an_agent_that_hides_its_session(
    person: Person, client: Client, agent: Agent
) -> None:
    other, _ = person.session()
    token = agent.client.headers["Authorization"].removeprefix("Bearer ")
    hiding = person.with_environment(NAVI_TOKEN=token, NAVI_SESSION_ID="")
    assert "only its parent or a person may" in hiding.refused("kill", other)
    claiming = person.with_environment(NAVI_TOKEN=token, NAVI_SESSION_ID=other)
    assert "can't act as session" in claiming.refused("task-complete")


async def test_what_an_agent_spawns_is_its_child_and_belongs_to_its_user(
    bob: Client, stack: AsyncExitStack
) -> None:
    agent = await agent_in(stack, bob)
    child = await agent.call("POST", "/sessions", {"driver": "scripted"}, expect=201)
    own = await bob.call("GET", f"/sessions/{agent.id}")
    assert (child["parent_id"], child["user_id"]) == (agent.id, own["user_id"])
    assert [each["id"] for each in await bob.call("GET", f"/sessions/{agent.id}/children")] == [
        child["id"]
    ]


async def test_what_an_agent_sends_names_its_session(client: Client, agent: Agent) -> None:
    other = await client.session()
    await agent.client.say(other, "[[say: one]]")
    await finished(client, other)
    async with agent.client.watch(other) as socket:
        await socket.send(json.dumps({"type": "input", "text": "[[say: two]]"}))
        await receive_until(socket, "session_sync")
    messages = [each for each in await client.messages(other) if each["role"] == "user"]
    assert [each["source"] for each in messages] == ["agent", "agent"]
    assert {each["metadata"]["sender"]["id"] for each in messages} == {agent.id}


async def test_an_agent_rewords_only_what_it_sent_itself(client: Client, agent: Agent) -> None:
    other = await client.session()
    await client.say(other, "[[sleep: 600]]")
    of_person = await client.say(other, "[[say: as I said]]")
    own = await agent.client.say(other, "[[say: one]]")
    change = {"text": "[[say: two]]"}
    queue = f"/sessions/{other}/queue"
    await agent.call("PATCH", f"{queue}/{of_person['input_id']}", change, expect=403)
    await agent.call("PATCH", f"{queue}/{own['input_id']}", change)
    texts = [each["text"] for each in await client.call("GET", queue)]
    assert texts == ["[[say: as I said]]", "[[say: two]]"]
    await client.call("POST", f"/sessions/{other}/kill", {})


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/sessions", {"parent_id": "<other>"}),
        ("POST", "/sessions/<own>/input", {"text": "x", "sender_session_id": "<other>"}),
        ("POST", "/sessions/<other>/agent-status", {"text": "x"}),
        ("POST", "/sessions/<other>/task-complete", {}),
    ],
)
async def test_an_agent_cannot_act_as_another_session_of_its_user(
    client: Client, agent: Agent, method: str, path: str, body: dict[str, Any]
) -> None:
    other = await client.session()
    filled = json.loads(
        json.dumps([path, body]).replace("<other>", other).replace("<own>", agent.id)
    )
    refused = await agent.call(method, filled[0], filled[1], expect=403)
    assert refused["error"]["message"] == (
        f"an agent of session {agent.id} can't act as session {other}"
    )


async def test_an_agent_cannot_name_another_session_in_a_header_or_a_frame(
    client: Client, agent: Agent
) -> None:
    other = await client.session()
    response = await agent.client.http.get("/sessions", headers={"Navi-Session": other})
    assert response.status_code == 403
    async with agent.client.watch() as socket:
        claim = {"session_id": agent.id, "text": "x", "sender_session_id": other}
        await socket.send(json.dumps({"type": "input", **claim}))
        assert "can't act as" in (await receive(socket))["message"]


async def test_an_agent_in_a_scheduled_turn_creates_no_schedule_and_need_not_say_who_it_is(
    client: Client, agent: Agent
) -> None:
    other = await client.session()
    long = {"call_type": "immediate", "additional_context_message": "[[sleep: 600]]"}
    async with client.watch(agent.id) as socket:
        await client.call("POST", f"/sessions/{agent.id}/recall", long, expect=201)
        await receive_until(socket, "stream_start")
    new = {"name": "again", "message": "Look.", "every_seconds": 60}
    for session_id in (agent.id, other):
        path = f"/sessions/{session_id}/automations"
        await agent.call("POST", path, new, expect=409)
        assert await client.call("GET", path) == []
    await client.call("POST", f"/sessions/{agent.id}/stop")


async def test_only_agents_of_admins_look_into_the_memory(
    client: Client, bob: Client, agent: Agent, stack: AsyncExitStack
) -> None:
    await agent.call("GET", "/index")
    his = await agent_in(stack, bob)
    await his.call("GET", "/index", expect=403)
    # Not even with the token of an admin, who may act for every session.
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call |= {"params": {"name": "search_sessions", "arguments": {"query": "x"}}}
    answered = await client.http.post("/mcp", json=call, headers={"Navi-Session": his.id})
    assert "only an admin's sessions" in answered.text


async def test_an_agents_token_does_not_log_a_browser_in(agent: Agent) -> None:
    token = agent.client.headers["Authorization"].removeprefix("Bearer ")
    response = await agent.client.http.post("/login", json={"token": token})
    assert response.status_code == 401
    assert "set-cookie" not in response.headers


async def test_an_agents_token_ends_with_its_session(client: Client, agent: Agent) -> None:
    async with agent.client.watch() as socket:
        await client.call("POST", f"/sessions/{agent.id}/kill", {})
        refused = await agent.call("GET", "/sessions", expect=401)
        assert "its session has ended" in refused["error"]["message"]
        await socket.send('{"type": "ping"}')
        frames = await receive_until(socket, "error")
        assert frames[-1]["kind"] == "not_authenticated"


async def test_an_agents_token_ends_with_its_user(
    server: ServerProcess, bob: Client, stack: AsyncExitStack
) -> None:
    agent = await agent_in(stack, bob)
    name = (await bob.call("GET", f"/sessions/{agent.id}"))["user_id"]
    navi(server, "user", "remove", name, "--yes")
    await agent.call("GET", "/sessions", expect=401)


async def test_agents_outlive_the_server_with_their_tokens(tmp_path: Path) -> None:
    secrets = {"NAVI_MODEL": "scripted", "GITHUB_TOKEN": "hush", "ANTHROPIC_API_KEY": "hush"}
    with ServerProcess(tmp_path, settings=secrets) as server:
        async with server.client() as client:
            session_id = await client.session()
            before = await agent_token(client, session_id)
            assert await agent_token(client, session_id) == before
        server.kill()
        server.start()
        async with server.client() as client:
            after = await agent_token(client, session_id)
            for token in (before, after):
                async with Client(server.address, token, 30) as agent:
                    await agent.call("GET", f"/sessions/{session_id}")
    assert before != after


async def test_a_command_sees_nothing_of_the_servers_secrets(tmp_path: Path) -> None:
    secrets = {"GITHUB_TOKEN": "hush-1", "ANTHROPIC_API_KEY": "hush-2", "NAVI_TOKEN": "hush-3" * 8}
    passed = {"NAVI_AGENTS_PASS_ENVIRONMENT": "COLOUR", "COLOUR": "blue"}
    settings = {"NAVI_MODEL": "scripted", **secrets, **passed}
    with ServerProcess(tmp_path, settings=settings) as server:
        async with server.client() as client:
            session_id = await client.session()
            await client.say(session_id, "[[bash: env]]")
            frames = await finished(client, session_id)
    [called] = [frame for frame in frames if frame["type"] == "tool_call"]
    assert "COLOUR=blue" in called["result"]
    assert "hush" not in called["result"]


def report(event: str, name: str, **fields: Any) -> dict[str, Any]:
    hook = {"hook_event_name": event, "session_id": name, "cwd": "/"}
    return {"emitted_at": time(), "hook": hook, **fields}


async def test_another_user_who_reports_a_terminals_session_first_cannot_send_to_it(
    client: Client, bob: Client
) -> None:
    """Even though the terminal belongs to an admin, who may see Bob's sessions."""
    name = str(uuid4())
    await bob.call("POST", "/hooks/claude_code", report("SessionStart", name))
    sessions = await bob.call("GET", "/sessions")
    await bob.say(sessions[0]["id"], "[[say: spoken by Bob]]")

    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"):
        for is_ours in (False, True):
            body = report(event, name, is_run_by_navi=is_ours)
            body["hook"]["tool_use_id"] = "t"
            response = await client.http.post("/hooks/claude_code", json=body)
            assert "spoken by Bob" not in response.text
            assert response.status_code == 403
    # Nor do that terminal's tools act in Bob's session.
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call |= {"params": {"name": "report_status", "arguments": {"text": "secret plans"}}}
    answered = await client.http.post("/mcp", json=call, headers={"Navi-Agent-Session": name})
    assert "belongs to someone else" in answered.text


async def test_an_agent_reports_for_its_own_session_only(client: Client, agent: Agent) -> None:
    """Not for another session of the same user, nor can it create one by reporting it."""
    name = str(uuid4())
    await client.call("POST", "/hooks/claude_code", report("SessionEnd", name))
    for body in (report("Stop", name), report("PreCompact", name, is_run_by_navi=True)):
        await agent.call("POST", "/hooks/claude_code", body, expect=403)
    await agent.call("POST", "/hooks/claude_code", report("Stop", str(uuid4())), expect=403)
