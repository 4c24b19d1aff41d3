"""The tools as other agents see them, over HTTP and over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from tests.acceptance.contract.command_runs import run
from tests.acceptance.contract.mcp import ask, request
from tests.server import Client, ServerProcess

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t"}},
}
SCHEDULE = {
    "name": "schedule_recall",
    "arguments": {"call_type": "once", "when": "1h", "additional_context_message": "Read it."},
}


async def test_an_agent_is_greeted_in_the_version_it_speaks(client: Client) -> None:
    answered = await ask(client, HELLO)
    assert answered["result"]["protocolVersion"] == "2025-06-18"
    assert answered["result"]["serverInfo"]["name"] == "navi"


async def test_a_notification_gets_no_answer(client: Client) -> None:
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = await client.http.post("/mcp", json=notification)
    assert (answer.status_code, answer.content) == (202, b"")


async def test_the_tools_are_those_of_the_built_in_agent(client: Client) -> None:
    answered = await ask(client, request(2, "tools/list"))
    tools = {tool["name"]: tool for tool in answered["result"]["tools"]}
    assert {"schedule_recall", "manage_recall", "search_sessions"} <= set(tools)
    assert "terminal" not in tools
    assert tools["schedule_recall"]["inputSchema"]["type"] == "object"


async def test_a_call_works_for_the_session_that_makes_it(client: Client) -> None:
    session_id = await client.session()
    answered = await ask(client, request(3, "tools/call", SCHEDULE), session_id)
    assert not answered["result"]["isError"]
    pending = await client.call("GET", f"/sessions/{session_id}/recall")
    assert pending["additional_context_message"] == "Read it."


async def test_a_call_of_nobody_is_refused_with_a_hint(client: Client) -> None:
    answered = await ask(client, request(4, "tools/call", SCHEDULE))
    assert answered["result"]["isError"]
    assert "navi setup" in answered["result"]["content"][0]["text"]


async def test_what_is_unknown_or_broken_is_an_error_of_the_protocol(client: Client) -> None:
    assert (await ask(client, request(5, "resources/list")))["error"]["code"] == -32601
    nothing = request(6, "tools/call", {"name": "nothing"})
    assert (await ask(client, nothing))["error"]["code"] == -32602
    answered = await client.http.post("/mcp", content=b"{")
    assert (answered.status_code, answered.json()["error"]["code"]) == (400, -32700)


async def test_the_program_answers_like_the_server(server: ServerProcess, client: Client) -> None:
    session_id = await client.session()
    environment = {
        "NAVI_URL": server.address,
        "NAVI_TOKEN": server.token,
        "NAVI_SESSION_ID": session_id,
    }
    requests = [
        HELLO,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request(2, "tools/call", SCHEDULE),
    ]
    greeting, called = await asyncio.to_thread(bridge, requests, environment)
    assert greeting["result"]["serverInfo"]["name"] == "navi"
    assert called["result"]["content"][0]["text"].startswith("Scheduled: ")
    assert (await client.call("GET", f"/sessions/{session_id}/recall"))["status"] == "pending"


def test_an_agent_that_starts_without_a_server_gets_no_tools_and_is_told_why() -> None:
    environment = {"NAVI_URL": "http://127.0.0.1:9", "NAVI_TOKEN": "t"}
    requests = [
        HELLO,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request(2, "ping"),
        request(3, "tools/list"),
        request(4, "tools/call", SCHEDULE),
        request(5, "prompts/list"),
    ]
    greeting, pong, tools, call, prompts = bridge(requests, environment)
    assert greeting["result"]["protocolVersion"] == "2025-06-18"
    assert "navi serve" in greeting["result"]["instructions"]
    assert pong["result"] == {}
    assert tools["result"] == {"tools": []}
    assert call["result"]["isError"]
    assert "navi serve" in call["result"]["content"][0]["text"]
    assert "navi serve" in prompts["error"]["message"]


def bridge(requests: list[Any], environment: dict[str, str]) -> list[Any]:
    typed = "".join(json.dumps(each) + "\n" for each in requests)
    done = run(["navi", "mcp"], {**os.environ, **environment}, typed)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]
