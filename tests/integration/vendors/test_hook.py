"""The hook script of agents, against a stand-in server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from navi.base.served_address import AddressFile
from navi.vendors.registry import vendors
from tests.integration.vendors.hook_server import (
    ANSWER,
    HOOK,
    REPORT,
    scripted_server,
    server,
)

HOOKS = {name: hooks for name, each in vendors().items() if (hooks := each.hooks()) is not None}

NOBODY = "http://127.0.0.1:9"
IN_TERMINAL = {"CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SESSION_ATTENDED": "1"}


def run(
    address: str,
    driver: str = "claude_code",
    report: Mapping[str, str] = REPORT,
    environment: Mapping[str, str] | None = None,
    token_file: str = os.devnull,
) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), driver, address, token_file],
        input=json.dumps(report),
        env={"NAVI_TOKEN": "token", **(environment or {})},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("environment", [{}, {"NAVI_SESSION_ID": "s"}])
def test_claude_code_is_handed_what_the_server_answers_after_a_tool(
    environment: dict[str, str],
) -> None:
    with server(ANSWER) as (address, received):
        assert run(address, environment=environment) == ANSWER.decode()
    assert b'"tool_use_id"' in received[0]


def test_the_hook_finds_the_server_of_its_home_wherever_it_listens(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    file = AddressFile.claim({"NAVI_HOME": str(tmp_path)})
    assert file is not None
    with server(ANSWER) as (address, _):
        file.write(address)
        assert run(NOBODY, token_file=str(tmp_path / "token")) == ANSWER.decode()
    file.remove()


def test_the_hook_ignores_the_address_of_a_killed_server(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    (tmp_path / "address").write_text(NOBODY)
    with server(ANSWER) as (address, _):
        assert run(address, token_file=str(tmp_path / "token")) == ANSWER.decode()


def test_a_server_that_never_answers_does_not_hold_up_an_agent_that_works() -> None:
    with server(None) as (address, received):
        assert run(address) == ""
    assert received


def test_codex_is_not_made_to_wait_after_a_tool() -> None:
    with server(ANSWER) as (address, _):
        assert run(address, "codex") == ""


@pytest.mark.parametrize(
    ("driver", "event"), [(name, event) for name, hooks in HOOKS.items() for event in hooks.events]
)
def test_an_agent_waits_only_for_the_events_that_may_have_an_answer(
    driver: str, event: str
) -> None:
    report = {**REPORT, "hook_event_name": event}
    hooks = HOOKS[driver]
    parsed = hooks.report(
        hooks.hook_class.model_validate(report), datetime(2026, 11, 18, tzinfo=UTC)
    )
    with server(ANSWER) as (address, _):
        answer = run(address, driver, report, IN_TERMINAL)
    is_dialog = (driver, event) == ("claude_code", "PermissionRequest")
    may_answer = parsed.asks_what_next or parsed.takes_nudges or is_dialog
    assert (answer == ANSWER.decode()) == may_answer


CHOICE = {
    "session_id": "a",
    "hook_event_name": "PreToolUse",
    "tool_name": "AskUserQuestion",
    "tool_use_id": "toolu_1",
}
ANNOUNCED = '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_1"}]}}'
TASKS = '{"type":"system","subtype":"background_tasks_changed","tasks":[%s]}'


def is_put_off(folder: Path, report: Mapping[str, str] = CHOICE) -> bool:
    """Whether the hook makes Claude Code end before its call."""
    answer = run(NOBODY, report=report, environment={"NAVI_RUN": str(folder)})
    if not answer:
        return False
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "defer"}
    assert json.loads(answer) == {"hookSpecificOutput": decision}
    return True


def test_a_choice_is_put_off_once_in_each_run(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(f"{ANNOUNCED}\n")
    assert is_put_off(tmp_path)
    assert not is_put_off(tmp_path)


def test_a_choice_that_an_earlier_run_has_put_off_is_asked(tmp_path: Path) -> None:
    (tmp_path / "out").write_text('{"type":"system"}\n')
    assert not is_put_off(tmp_path)


def test_a_choice_is_not_put_off_while_something_runs_in_the_background(tmp_path: Path) -> None:
    lines = [ANNOUNCED, TASKS % '{"task_id":"a"}']
    (tmp_path / "out").write_text("\n".join(lines))
    assert not is_put_off(tmp_path)
    (tmp_path / "out").write_text("\n".join([*lines, TASKS % ""]))
    assert is_put_off(tmp_path)


def test_a_sub_agents_choice_and_a_choice_outside_of_navi_are_not_put_off(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(ANNOUNCED)
    assert not is_put_off(tmp_path, {**CHOICE, "agent_id": "a"})
    assert run(NOBODY, report=CHOICE) == ""


DIALOG = {"session_id": "a", "hook_event_name": "PermissionRequest"}
STILL_OPEN = b"HTTP/1.1 202 Accepted\r\n\r\n{}"
DECISION = b"HTTP/1.1 200 OK\r\n\r\n" + ANSWER
SETTLED = b"HTTP/1.1 200 OK\r\n\r\n{}"
REFUSED = b'HTTP/1.1 409 Conflict\r\n\r\n{"error": {}}'
FAILED = b"HTTP/1.1 503 Service Unavailable\r\n\r\n{}"


def call_of(request: bytes) -> bytes:
    return request.partition(b'"call": "')[2].partition(b'"')[0]


def test_a_dialogs_hook_asks_until_somebody_decides() -> None:
    with scripted_server(STILL_OPEN, STILL_OPEN, DECISION) as (address, received):
        assert run(address, report=DIALOG, environment=IN_TERMINAL) == ANSWER.decode()
    calls = {call_of(request) for request in received}
    assert len(received) == 3
    assert len(calls) == 1, "it is one question"
    assert calls.pop().startswith(b"terminal-")


def test_each_dialog_is_a_question_of_its_own() -> None:
    calls = set()
    for _ in range(2):
        with scripted_server(DECISION) as (address, received):
            run(address, report=DIALOG, environment=IN_TERMINAL)
        calls.add(call_of(received[0]))
    assert len(calls) == 2


@pytest.mark.parametrize("answer", [SETTLED, REFUSED])
def test_a_dialog_that_is_settled_or_refused_is_left_to_the_person(answer: bytes) -> None:
    with scripted_server(STILL_OPEN, answer) as (address, _):
        assert run(address, report=DIALOG, environment=IN_TERMINAL) == ""


@pytest.mark.parametrize("failure", [FAILED, None])
def test_a_hook_asks_again_after_a_failure_of_the_server(failure: bytes | None) -> None:
    """Half of an answer is none."""
    with scripted_server(STILL_OPEN, failure, DECISION) as (address, received):
        assert run(address, report=DIALOG, environment=IN_TERMINAL) == ANSWER.decode()
    assert len(received) == 3


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
        {"CLAUDE_CODE_ENTRYPOINT": "claude-vscode"},
        {**IN_TERMINAL, "CLAUDE_CODE_SESSION_ATTENDED": "0"},
    ],
)
def test_without_a_dialog_on_a_screen_nothing_is_asked(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert run(address, report=DIALOG, environment=environment) == ""
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_without_a_server_a_dialog_is_left_to_the_person_at_once() -> None:
    assert run(NOBODY, report=DIALOG, environment=IN_TERMINAL) == ""


def test_a_hook_ends_with_its_agent() -> None:
    """Nobody reads its answer any more."""
    with server(None) as (address, received):
        ours, theirs = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(HOOK), "claude_code", address, os.devnull],
            stdin=subprocess.PIPE,
            stdout=theirs,
            env={"NAVI_TOKEN": "token", **IN_TERMINAL},
        )
        os.close(theirs)
        assert process.stdin is not None
        process.stdin.write(json.dumps(DIALOG).encode())
        process.stdin.close()
        os.close(ours)
        assert process.wait(30) == 0
    assert received
