"""Anything too large, too long or unstorable is refused with a message, on both stores."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server import Client, ServerProcess

NUL = "a\x00b"
HALF = "half \ud800"
RECALL = {"call_type": "once", "when": "1h", "additional_context_message": "Read build.log"}
BEAT = {**RECALL, "call_type": "recurring", "interval_seconds": 60}
AUTOMATION = {"name": "monitor", "message": "Look at error.log.", "every_seconds": 60}
TEN_YEARS = 315_619_200


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("limits")
    url = None
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").create_database()
    with ServerProcess(home, database_url=url, settings={"NAVI_MODEL": "scripted"}) as server:
        yield server


@pytest.fixture
async def client(server: ServerProcess) -> AsyncIterator[Client]:
    async with server.client() as client:
        yield client


async def refused(client: Client, method: str, path: str, body: dict[str, Any]) -> str:
    # Escaped, because text that is not valid Unicode cannot be sent otherwise.
    response = await client.http.request(method, path, content=json.dumps(body))
    assert response.status_code == 422, (path, body, response.text)
    error = response.json()["error"]
    assert error["hint"]
    return f"{error['message']}; {error['hint']}"


@pytest.mark.parametrize("seconds", [-1, 0, TEN_YEARS + 1, 2**31, 10**12, 10**20])
async def test_an_interval_is_refused_with_the_range_it_may_have(
    client: Client, seconds: int
) -> None:
    session_id = await client.session()
    beat = {**BEAT, "interval_seconds": seconds}
    every = {**AUTOMATION, "every_seconds": seconds}
    requests: list[tuple[str, dict[str, Any], int]] = [
        (f"/sessions/{session_id}/recall", beat, 1),
        ("/recalls/preview", {"when": "1h", "interval_seconds": seconds}, 1),
        (f"/sessions/{session_id}/automations", every, 10),
        ("/automations/preview", {"every_seconds": seconds}, 10),
    ]
    for path, body, shortest in requests:
        words = await refused(client, "POST", path, body)
        assert f"from {shortest} to {TEN_YEARS} (10 years)" in words


async def test_the_longest_intervals_and_the_latest_times_are_taken(client: Client) -> None:
    session_id = await client.session()
    beat = {**BEAT, "when": "520w", "interval_seconds": TEN_YEARS}
    made = await client.call("POST", f"/sessions/{session_id}/recall", beat, expect=201)
    assert made["interval_seconds"] == TEN_YEARS
    preview = {"when": "520w", "interval_seconds": TEN_YEARS}
    assert len((await client.call("POST", "/recalls/preview", preview))["beats"]) == 5
    limits = {"max_runs": 10**6, "max_failures": 10**6, "time_limit_seconds": TEN_YEARS}
    slow = {**AUTOMATION, "every_seconds": TEN_YEARS, "expires_at": "520w"}
    await refused(client, "POST", f"/sessions/{session_id}/automations", slow | limits)
    del slow["expires_at"]
    path = f"/sessions/{session_id}/automations"
    assert (await client.call("POST", path, slow | limits, expect=201))["max_runs"] == 10**6
    far = {"every_seconds": TEN_YEARS, "count": 100}
    assert len((await client.call("POST", "/automations/preview", far))["next"]) == 100


async def test_skipping_ends_before_the_calendar_does(client: Client) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}/recall"
    await client.call("POST", path, {**BEAT, "interval_seconds": TEN_YEARS}, expect=201)
    await client.call("POST", f"{path}/skip")
    assert "20 years" in await refused(client, "POST", f"{path}/skip", {})


@pytest.mark.parametrize(
    "when", ["9999-12-31T23:59:59-14:00", "9999-12-31", "0001-01-01T00:00+14:00"]
)
async def test_a_time_at_the_ends_of_the_calendar_is_refused(client: Client, when: str) -> None:
    session_id = await client.session()
    at = {"name": "far", "message": "Look.", "at": when}
    await refused(client, "POST", f"/sessions/{session_id}/recall", {**RECALL, "when": when})
    await refused(client, "POST", f"/sessions/{session_id}/automations", at)
    expiring = {**AUTOMATION, "expires_at": when}
    await refused(client, "POST", f"/sessions/{session_id}/automations", expiring)


@pytest.mark.parametrize("field", ["max_runs", "max_failures", "time_limit_seconds"])
@pytest.mark.parametrize("value", [-1, 0, 2**31, 10**20])
async def test_a_count_is_refused_with_the_range_it_may_have(
    client: Client, field: str, value: int
) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}/automations"
    words = await refused(client, "POST", path, {**AUTOMATION, field: value})
    assert field in words
    assert "from 1 to " in words
    made = await client.call("POST", path, AUTOMATION, expect=201)
    assert await refused(client, "PATCH", f"/automations/{made['id']}", {field: value}) == words
    unchanged = await client.call("GET", f"/automations/{made['id']}")
    assert unchanged == made


@pytest.mark.parametrize("text", [NUL, HALF])
async def test_a_text_that_no_store_keeps_is_refused_wherever_it_stands(
    client: Client, text: str
) -> None:
    session_id = await client.session()
    own = f"/sessions/{session_id}"
    made = await client.call("POST", f"{own}/automations", AUTOMATION, expect=201)
    automation = f"/automations/{made['id']}"
    reminder = {"session_id": session_id, "delay_seconds": 9, "message": "look"}
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", f"{own}/recall", {**RECALL, "internal_comment": text}),
        ("POST", f"{own}/recall", {**RECALL, "additional_context_message": text}),
        ("POST", f"{own}/recall", {**RECALL, "when": text}),
        ("POST", f"{own}/automations", {**AUTOMATION, "name": text}),
        ("POST", f"{own}/automations", {**AUTOMATION, "message": text}),
        ("POST", f"{own}/automations", {**AUTOMATION, "catch_up": text}),
        ("PATCH", automation, {"name": text}),
        ("PATCH", automation, {"cron_expr": text}),
        ("POST", "/sessions", {"driver": "scripted", "name": text}),
        ("POST", "/sessions", {"driver": "scripted", "model": text}),
        ("POST", "/sessions", {"driver": "scripted", "cwd": text}),
        ("POST", "/sessions", {"driver": "scripted", "parent_id": text}),
        ("PATCH", own, {"name": text}),
        ("PATCH", own, {"task": text}),
        ("POST", f"{own}/agent-status", {"text": text}),
        ("POST", f"{own}/task-complete", {"text": text}),
        ("POST", f"{own}/input", {"text": text}),
        ("POST", f"{own}/input", {"text": "hello", "sender_session_id": text}),
        ("POST", f"{own}/kill", {"requester_session_id": text}),
        ("POST", "/scheduler/remind", {**reminder, "session_id": text}),
        ("POST", "/scheduler/remind", {**reminder, "message": text}),
    ]  # fmt: skip
    for method, path, body in requests:
        await refused(client, method, path, body)
    for path in (
        "/sessions/%00",
        "/automations/%00",
        "/automation-runs/%00",
        "/sessions?parent_id=%00",
    ):
        await client.call("GET", path, expect=422)


async def test_a_text_is_refused_with_the_length_it_may_have(client: Client) -> None:
    session_id = await client.session()
    own = f"/sessions/{session_id}"
    requests: list[tuple[str, str, dict[str, Any], str]] = [
        ("POST", f"{own}/recall", {**RECALL, "internal_comment": "x" * 2_001}, "2,000"),
        ("POST", f"{own}/automations", {**AUTOMATION, "name": "x" * 201}, "200"),
        ("POST", "/sessions", {"name": "x" * 201}, "200"),
        ("PATCH", own, {"name": "x" * 201}, "200"),
        ("PATCH", own, {"name": " "}, "200"),
        ("PATCH", own, {"task": "x" * 2_001}, "2,000"),
        ("POST", f"{own}/agent-status", {"text": "x" * 1_001}, "1,000"),
    ]
    for method, path, body, most in requests:
        assert f"at most {most}" in await refused(client, method, path, body)
    body = {**RECALL, "internal_comment": "x" * 2_000}
    await client.call("POST", f"{own}/recall", body, expect=201)


async def test_a_report_of_a_hook_from_beyond_the_calendar_is_refused(client: Client) -> None:
    hook = {"hook_event_name": "Stop", "session_id": "abc", "cwd": "/"}
    for moment in ("-1.0", "1e20", "Infinity", "NaN"):
        content = json.dumps({"hook": hook, "emitted_at": 0}).replace(": 0}", f": {moment}}}")
        response = await client.http.post("/hooks/claude_code", content=content)
        assert response.status_code == 422, response.text
    await client.call("POST", "/hooks/claude_code", {"hook": hook, "emitted_at": 1_790_000_000.0})


async def test_a_report_of_a_hook_is_taken_whatever_the_person_typed(client: Client) -> None:
    hook = {"hook_event_name": "UserPromptSubmit", "session_id": "odd-prompt", "cwd": "/"}
    for prompt in ("\0", "\ud800", "x" * 100_000, 7, None, "\0\nfinally \ud800 words"):
        body = {"hook": {**hook, "prompt": prompt}, "emitted_at": 1_790_000_000.0}
        content = json.dumps(body)
        response = await client.http.post("/hooks/claude_code", content=content)
        assert response.status_code == 200, response.text


async def test_an_agent_is_refused_the_same_as_a_person(client: Client) -> None:
    session_id = await client.session()

    async def call(tool: str, **arguments: Any) -> str:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                 "params": {"name": tool, "arguments": arguments}}  # fmt: skip
        answer = await client.http.post("/mcp", json=body, headers={"Navi-Session": session_id})
        result = answer.json()["result"]
        assert result["isError"], result
        return str(result["content"][0]["text"])

    beat = {**BEAT, "interval_seconds": 10**12}
    path = f"/sessions/{session_id}"
    for tool, arguments, call_path, body in (
        ("schedule_recall", beat, f"{path}/recall", beat),
        ("schedule_recall", {**RECALL, "internal_comment": NUL}, f"{path}/recall",
         {**RECALL, "internal_comment": NUL}),
        ("schedule_recall", {**RECALL, "interval_seconds": 60}, f"{path}/recall",
         {**RECALL, "interval_seconds": 60}),
        ("cron", {**AUTOMATION, "action": "add", "every_seconds": 10**12}, f"{path}/automations",
         {**AUTOMATION, "every_seconds": 10**12}),
    ):  # fmt: skip
        assert await call(tool, **arguments) == await refused(client, "POST", call_path, body)


CONTROL = ["\x1b[31mred", "bell\x07", "\x7f", "\x9b2J", "\u202egnp", "\u2066a", "a\r"]


@pytest.mark.parametrize("text", CONTROL)
async def test_short_texts_that_lists_show_hold_no_control_characters(
    client: Client, text: str
) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}"
    code = f"U+{next(ord(each) for each in text if not each.isprintable()):04X}"
    for method, call_path, field, body in (
        ("POST", "/sessions", "name", {"name": text}),
        ("POST", "/sessions", "model", {"model": text}),
        ("PATCH", path, "name", {"name": text}),
        ("PATCH", path, "model", {"model": text}),
        ("PATCH", path, "task", {"task": text}),
        ("POST", f"{path}/agent-status", "status", {"text": text}),
        ("POST", f"{path}/recall", "internal_comment", {**RECALL, "internal_comment": text}),
    ):
        refusal = await refused(client, method, call_path, body)
        assert field in refusal
        assert f"control character {code}" in refusal
    # White space in an automation's name is normalised.
    if text != "a\r":
        automation = {**AUTOMATION, "name": text}
        assert code in await refused(client, "POST", f"{path}/automations", automation)


async def test_a_name_has_one_line_and_a_task_may_have_several(client: Client) -> None:
    session_id = await client.session()
    for name in ("two\nlines", "a\ttab"):
        assert "line break or a tab" in await refused(
            client, "PATCH", f"/sessions/{session_id}", {"name": name}
        )
    changes = {"name": "👩‍👩‍👧 שלום", "task": "first\n\tsecond"}
    changed = await client.call("PATCH", f"/sessions/{session_id}", changes)
    assert {key: changed[key] for key in changes} == changes


@pytest.mark.parametrize("cwd", ["~\0", "~nobody-here", "/" + "x" * 5_000, "/x" * 3_000, "tmp"])
async def test_an_impossible_folder_is_refused(client: Client, cwd: str) -> None:
    await refused(client, "POST", "/sessions", {"driver": "scripted", "cwd": cwd})


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "1e30"])
async def test_a_number_that_is_not_finite_or_far_too_large_is_refused(
    client: Client, number: str
) -> None:
    session_id = await client.session()
    body = f'{{"session_id": "{session_id}", "message": "look", "delay_seconds": {number}}}'
    response = await client.http.post("/scheduler/remind", content=body)
    assert response.status_code == 422, response.text


@pytest.mark.parametrize("name", [[], {}, [[]], None, 7, "\ud800", "nothing"])
async def test_a_tool_that_does_not_exist_is_refused_whatever_its_name(
    client: Client, name: object
) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}}
    answer = (await client.http.post("/mcp", content=json.dumps(call))).json()
    assert answer["error"]["code"] == -32602
    assert "there is no tool" in answer["error"]["message"]


async def test_arguments_that_are_not_an_object_are_refused(client: Client) -> None:
    params = {"name": "report_status", "arguments": ["text"]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = await client.call("POST", "/mcp", call)
    assert answer["error"]["code"] == -32602


async def test_an_origin_that_is_not_an_address_is_refused(client: Client) -> None:
    response = await client.http.get("/sessions", headers={"Origin": "http://[::1"})
    assert response.status_code == 403


@pytest.mark.parametrize("name", ["--yolo", "", "a b", "../a", "x" * 201, "a\n--yolo"])
async def test_a_hook_reports_no_session_whose_id_could_be_an_option(
    client: Client, name: str
) -> None:
    hook = {"hook_event_name": "Stop", "session_id": name, "cwd": "/"}
    body = {"hook": hook, "emitted_at": 1_790_000_000.0}
    assert "session_id" in await refused(client, "POST", "/hooks/codex", body)


async def test_what_a_hook_reports_has_a_size(client: Client) -> None:
    hook = {"hook_event_name": "Stop", "session_id": "long-folder", "cwd": "/" + "x" * 255}
    too_long = {"hook": {**hook, "cwd": "/x" * 2_049}, "emitted_at": 1_790_000_000.0}
    await refused(client, "POST", "/hooks/claude_code", too_long)
    body = {"hook": hook, "emitted_at": 1_790_000_000.0}
    await client.call("POST", "/hooks/claude_code", body)
    (name,) = [
        session["name"]
        for session in await client.call("GET", "/sessions")
        if session["cwd"] == hook["cwd"]
    ]
    assert len(name) < 200


async def test_a_batch_of_mcp_requests_has_a_size(client: Client) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert len(await client.call("POST", "/mcp", [ping] * 50)) == 50
    await client.call("POST", "/mcp", [ping] * 51, expect=400)


def test_a_client_that_leaves_in_the_middle_of_its_body_is_not_a_failure(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as server:
        host, port = server.address.removeprefix("http://").split(":")
        token = f"Authorization: Bearer {server.token}\r\n\r\n"
        for path in ("/login", "/hooks/codex", "/sessions"):
            head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 100\r\n"
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall(f'{head}{token}{{"half'.encode())
        server.stop()
        assert "Traceback" not in server.log()
