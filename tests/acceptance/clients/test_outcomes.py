"""Turns of the real agents that were refused something or reached a usage limit."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import Any

import pytest

from navi.base.paths import pane_name
from tests.acceptance.clients.conftest import DRIVERS, World, frames_of, text_of
from tests.acceptance.contract.conftest import finished
from tests.waiting import eventually

ONE_TRY = {"CLAUDE_CODE_MAX_RETRIES": "0"}
"""Codex has it in its settings."""
ASKING = {
    "NAVI_CLAUDE_CODE_ARGUMENTS": "--permission-mode=default",
    "NAVI_CODEX_ARGUMENTS": "--sandbox=read-only",
}
NOT_ASKING = {
    "NAVI_CLAUDE_CODE_ARGUMENTS": "--permission-mode=dontAsk",
    "NAVI_CODEX_ARGUMENTS": "--ask-for-approval=never",
}
DENYING = {**NOT_ASKING, "NAVI_CODEX_ARGUMENTS": '--config=approval_policy="never"'}
"""The same without a terminal, where Codex has no such option."""
SUBSCRIPTION = {
    "ANTHROPIC_API_KEY": "",
    "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-dummy",
}
ESCALATED = {"cmd": "touch made", "sandbox_permissions": "require_escalated", "justification": "?"}
NEEDY = {
    "claude_code": "[[bash: touch made]] [[say: It is made.]]",
    "codex": f"[[tool: exec_command | {json.dumps(ESCALATED)}]] [[say: It is made.]]",
}
REFUSED = {
    "claude_code": "refused: Bash(touch made);",
    "codex": "refused: exec_command(touch made);",
}
QUESTION = "Do you want to proceed?"
RESET = 1_999_999_999
USED_UP = {
    "claude_code": {
        "headers": {
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-reset": str(RESET),
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
        }
    },
    "codex": {
        "headers": {
            "x-codex-primary-used-percent": "100",
            "x-codex-primary-window-minutes": "300",
            "x-codex-primary-reset-at": str(RESET),
        },
        "body": {"error": {"type": "usage_limit_reached", "resets_at": RESET}},
    },
}


def ends(frames: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(end["outcome"], end["error"]) for end in frames_of(frames, "stream_end")]


@pytest.mark.proof
@pytest.mark.parametrize("driver", DRIVERS)
async def test_a_turn_that_was_refused_a_call_is_denied_and_names_it(
    world: World, driver: str
) -> None:
    world.serve(**DENYING)
    async with world.client() as client:
        session_id = await world.session(client, driver)
        frames = await world.turn(client, session_id, NEEDY[driver])

        [(outcome, error)] = ends(frames)
        assert outcome == "denied"
        assert error is not None
        assert error.startswith(REFUSED[driver])
        assert text_of(frames) == "It is made."
        assert not (world.work / "made").exists()

        frames = await world.turn(client, session_id, "[[say: on we go]]", turns=2)
        assert [outcome for outcome, _ in ends(frames)] == ["denied", "ok"]


@pytest.mark.proof
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("status", [429, 529])
async def test_too_many_requests_and_an_overload_are_a_limit(
    world: World, driver: str, status: int
) -> None:
    world.serve(**ONE_TRY)
    async with world.client() as client:
        session_id = await world.session(client, driver)
        frames = await world.turn(client, session_id, f"[[error: {status}]]")

        [(outcome, error)] = ends(frames)
        assert outcome == "limit"
        assert str(status) in (error or "")


@pytest.mark.proof
@pytest.mark.parametrize("driver", DRIVERS)
async def test_a_recall_that_met_a_usage_limit_waits_for_the_reset_that_the_vendor_named(
    world: World, driver: str
) -> None:
    world.serve(**ONE_TRY, **SUBSCRIPTION)
    async with world.client() as client:
        session_id = await world.session(client, driver)
        task = f"[[error: 429 | {json.dumps(USED_UP[driver])}]]"
        recall = {"call_type": "once", "when": "now", "additional_context_message": task}
        await client.call("POST", f"/sessions/{session_id}/recall", recall, expect=201)

        [(outcome, error)] = ends(await finished(client, session_id))
        assert outcome == "limit"
        assert "hit your" in (error or "")
        pending = await client.call("GET", f"/sessions/{session_id}/recall")
        assert (pending["status"], pending["outcome"]) == ("pending", "limit")
        assert pending["trigger_at"] == "2033-05-18T03:33:49.000Z"


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.parametrize("agent", DRIVERS)
async def test_a_turn_in_a_pane_is_denied_or_limited_by_the_agents_own_record(
    world: World, agent: str
) -> None:
    world.serve(**ONE_TRY, **NOT_ASKING)
    async with world.client() as client:
        session_id = await world.session(client, "tmux", model=agent)
        await world.turn(client, session_id, NEEDY[agent])
        await world.turn(client, session_id, "[[error: 429]]", turns=2)
        frames = await world.turn(client, session_id, "[[say: on we go]]", turns=3)

        [(first, refused), (second, _), (third, _)] = ends(frames)
        assert (first, second, third) == ("denied", "limit", "ok")
        assert (refused or "").startswith(REFUSED[agent])
        assert not (world.work / "made").exists()


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_a_person_who_says_no_in_the_pane_of_claude_code_denies(world: World) -> None:
    """Codex treats this as interrupting the turn."""
    world.serve(**ASKING)
    async with world.client() as client:
        session_id = await world.session(client, "tmux", model="claude_code")
        pane = f"={pane_name(session_id)}:"
        await client.say(session_id, NEEDY["claude_code"])
        await eventually(
            lambda: QUESTION in world.tmux("capture-pane", "-p", "-t", pane), "Claude Code asks"
        )
        # Claude Code ignores a key pressed right after its question appears.
        while QUESTION in world.tmux("capture-pane", "-p", "-t", pane):
            world.tmux("send-keys", "-t", pane, "Escape")
            await asyncio.sleep(0.5)

        [(outcome, error)] = ends(await finished(client, session_id))
        assert outcome == "denied"
        assert (error or "").startswith(REFUSED["claude_code"])
