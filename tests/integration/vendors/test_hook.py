"""The hook script of agents, against a stand-in server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from navi.vendors.registry import vendors
from tests.integration.vendors.hook_server import ANSWER, HOOK, REPORT, server

HOOKS = {name: hooks for name, each in vendors().items() if (hooks := each.hooks()) is not None}


def run(
    address: str,
    driver: str = "claude_code",
    report: Mapping[str, str] = REPORT,
    environment: Mapping[str, str] | None = None,
) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), driver, address, os.devnull],
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
    parsed = hooks.report(hooks.fields.model_validate(report), datetime(2026, 11, 18, tzinfo=UTC))
    with server(ANSWER) as (address, _):
        answer = run(address, driver, report)
    assert (answer == ANSWER.decode()) == (parsed.asks_what_next or parsed.takes_nudges)
