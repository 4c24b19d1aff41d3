from __future__ import annotations

import re
from pathlib import Path

import pytest

import navi
from tests.acceptance.contract.conftest import finished
from tests.server import Client, ServerProcess

SESSION_FIELDS = (
    "id name driver model program cwd parent_id user_id state task agent_status_text "
    "agent_status_at created_at updated_at pending_recall "
    "attention last_outcome unread pinned archived"
)
MESSAGE_FIELDS = "id idx role content thinking tool_calls is_recall source metadata timestamp"
UTC_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
LONG = "[[sleep: 600]]"


async def test_health_needs_no_token(server: ServerProcess, client: Client) -> None:
    del client.http.headers["Authorization"]
    health = await client.call("GET", "/health")
    assert health == {
        "status": "ok",
        "version": navi.__version__,
        "store": "sqlite",
        "has_model": True,
    }


async def test_a_session_has_the_fields_of_the_contract(client: Client, tmp_path: Path) -> None:
    body = {"name": "builder", "driver": "scripted", "model": "scripted", "cwd": str(tmp_path)}
    created = await client.call("POST", "/sessions", body, expect=201)

    assert set(SESSION_FIELDS.split()) <= set(created)
    assert {key: created[key] for key in body} == body
    assert (created["state"], created["user_id"], created["pending_recall"]) == (
        "idle",
        "local",
        None,
    )
    assert UTC_INSTANT.fullmatch(created["created_at"])
    assert await client.call("GET", f"/sessions/{created['id']}") == created


async def test_a_session_needs_nothing_to_be_created(client: Client) -> None:
    created = await client.call("POST", "/sessions", expect=201)
    assert created["driver"] == "builtin"
    assert created["name"]


async def test_sessions_are_listed_by_newest_activity_and_by_parent(client: Client) -> None:
    parent = await client.session()
    child = await client.session(parent_id=parent)
    await client.say(parent, "hello")

    listed = [session["id"] for session in await client.call("GET", "/sessions")]
    assert listed.index(parent) < listed.index(child)
    of_parent = await client.call("GET", f"/sessions?parent_id={parent}")
    assert [session["id"] for session in of_parent] == [child]


async def test_a_session_can_be_renamed_and_given_a_task_and_a_model(client: Client) -> None:
    session_id = await client.session()
    changes = {"name": "new name", "task": "build it", "model": "openai:some-model"}

    changed = await client.call("PATCH", f"/sessions/{session_id}", changes)

    assert {key: changed[key] for key in changes} == changes


async def test_a_model_of_no_provider_is_refused_at_once(client: Client) -> None:
    session_id = await client.session(driver="builtin")
    for method, path in (("POST", "/sessions"), ("PATCH", f"/sessions/{session_id}")):
        request = {"model": "gpt-5", **({"driver": "builtin"} if method == "POST" else {})}
        refusal = await client.call(method, path, request, expect=422)
        assert refusal["error"]["message"] == "unknown model 'gpt-5'"
        assert refusal["error"]["hint"] == "use anthropic:NAME, openai:NAME or scripted"
    # Other agents know their models themselves.
    await client.call("POST", "/sessions", {"driver": "codex", "model": "gpt-5"}, expect=201)


@pytest.mark.parametrize(
    ("request_body", "program", "model"),
    [
        ({"program": "codex", "model": "gpt-5"}, "codex", "gpt-5"),
        ({"program": "claude_code"}, "claude_code", None),
        # As earlier versions had it.
        ({"model": "codex"}, "codex", None),
        ({}, None, None),
    ],
)
async def test_what_runs_in_a_pane_is_not_its_model(
    client: Client, request_body: dict[str, str], program: str | None, model: str | None
) -> None:
    created = await client.call("POST", "/sessions", {"driver": "tmux", **request_body}, expect=201)
    assert (created["program"], created["model"]) == (program, model)

    path = f"/sessions/{created['id']}"
    changed = await client.call("PATCH", path, {"model": "cat"})
    assert (changed["program"], changed["model"]) == ("cat", model)
    changed = await client.call("PATCH", path, {"program": "codex", "model": "gpt-5.5"})
    assert (changed["program"], changed["model"]) == ("codex", "gpt-5.5")


async def test_only_a_pane_runs_a_program(client: Client) -> None:
    session_id = await client.session()
    for method, path in (("POST", "/sessions"), ("PATCH", f"/sessions/{session_id}")):
        refusal = await client.call(method, path, {"program": "cat"}, expect=422)
        assert "tmux" in refusal["error"]["hint"]


async def test_messages_have_the_fields_of_the_contract_and_can_be_read_on(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, "[[think: hm]] [[bash: echo hi]] [[say: done]]")
    await finished(client, session_id)

    messages = await client.messages(session_id)

    assert all(set(MESSAGE_FIELDS.split()) <= set(message) for message in messages)
    assert [(m["idx"], m["role"]) for m in messages] == [
        (0, "user"),
        (1, "assistant"),
        (2, "assistant"),
    ]
    (call,) = messages[1]["tool_calls"]
    assert (call["name"], call["arguments"], call["is_error"]) == (
        "terminal",
        {"command": "echo hi"},
        False,
    )
    later = await client.call("GET", f"/sessions/{session_id}/messages?after_idx=1")
    assert later == messages[2:]


async def test_stop_tells_whether_a_turn_ran(client: Client) -> None:
    session_id = await client.session()
    assert await client.call("POST", f"/sessions/{session_id}/stop") == {"stopped": False}
    await client.say(session_id, LONG)
    assert await client.call("POST", f"/sessions/{session_id}/stop") == {"stopped": True}
    assert (await client.call("GET", f"/sessions/{session_id}"))["state"] == "idle"


async def test_clear_keeps_the_transcript_and_kill_ends_the_session(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, "hello")
    await finished(client, session_id)

    cleared = await client.call("POST", f"/sessions/{session_id}/clear")
    assert cleared["state"] == "idle"
    assert len(await client.messages(session_id)) == 2

    killed = await client.call("POST", f"/sessions/{session_id}/kill")
    assert killed["state"] == "stopped"
    refused = await client.call("POST", f"/sessions/{session_id}/input", {"text": "x"}, expect=409)
    assert refused["error"]["kind"] == "session_stopped"


async def test_a_deleted_session_is_gone(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, LONG)
    assert await client.call("DELETE", f"/sessions/{session_id}") == {"deleted": True}
    await client.call("GET", f"/sessions/{session_id}", expect=404)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/sessions/nobody"),
        ("PATCH", "/sessions/nobody"),
        ("DELETE", "/sessions/nobody"),
        ("GET", "/sessions/nobody/messages"),
        ("GET", "/sessions/nobody/queue"),
        ("POST", "/sessions/nobody/stop"),
        ("POST", "/sessions/nobody/clear"),
        ("POST", "/sessions/nobody/kill"),
        ("GET", "/nothing/here"),
    ],
)
async def test_what_is_unknown_is_404_with_a_hint(client: Client, method: str, path: str) -> None:
    body = {"name": "x"} if method == "PATCH" else None
    error = (await client.call(method, path, body, expect=404))["error"]
    assert set(error) == {"kind", "message", "hint"}
    assert error["hint"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"driver": "teleport"}, "builtin"),
        ({"cwd": "/no/such/folder"}, "folder"),
        ({"cwd": "relative"}, "absolute"),
        ({"name": ""}, "name"),
        ({"name": 5}, "name"),
        ({"colour": "red"}, "name, driver, model, program, cwd, parent_id"),
        ([], "fields"),
    ],
)
async def test_an_invalid_session_is_refused_with_a_hint(
    client: Client, body: object, words: str
) -> None:
    error = (await client.call("POST", "/sessions", body, expect=422))["error"]
    assert words in error["message"] + error["hint"]


@pytest.mark.parametrize("body", [{"name": None}, {"name": ""}, {}, {"state": "running"}])
async def test_a_change_that_makes_no_sense_is_refused(client: Client, body: object) -> None:
    session_id = await client.session()
    await client.call("PATCH", f"/sessions/{session_id}", body, expect=422)


async def test_a_child_of_nobody_is_refused(client: Client) -> None:
    await client.call("POST", "/sessions", {"parent_id": "nobody"}, expect=404)


async def test_a_wrong_method_is_405_in_the_same_shape(client: Client) -> None:
    error = (await client.call("PUT", "/sessions", {}, expect=405))["error"]
    assert error["kind"] == "method_not_allowed"


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/sessions", "pending_recall"),
        ("GET", "/sessions/{id}/children", "recursive"),
        ("DELETE", "/sessions/{id}", "delete_automations"),
        ("GET", "/stats/bash", "suggest"),
    ],
)
async def test_a_switch_that_is_neither_true_nor_false_is_refused(
    client: Client, method: str, path: str, name: str
) -> None:
    session_id = await client.session()
    path = path.replace("{id}", session_id)
    error = (await client.call(method, f"{path}?{name}=banana", expect=422))["error"]
    assert error["message"] == f"{name} must be true or false, not 'banana'"
    assert error["hint"] == f"write ?{name}=true, or leave it out"
    await client.call("GET", f"/sessions/{session_id}")
