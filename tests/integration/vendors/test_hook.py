"""The script that agents run at their hooks, against a server that is the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.integration.vendors.hook_server import ANSWER, HOOK, SAID, server


def run(address: str, driver: str = "claude_code", **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), driver, address, os.devnull],
        input=json.dumps(SAID),
        env={"NAVI_TOKEN": "token", **environment},
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
        assert run(address, **environment) == ANSWER.decode()
    assert b'"tool_use_id"' in received[0]


def test_a_server_that_never_answers_does_not_hold_up_an_agent_that_works() -> None:
    with server(None) as (address, received):
        assert run(address) == ""
    assert received


def test_codex_is_not_made_to_wait_after_a_tool() -> None:
    with server(ANSWER) as (address, _):
        assert run(address, "codex") == ""
