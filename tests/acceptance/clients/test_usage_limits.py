"""Real agents whose account meets a usage limit."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from datetime import datetime
from typing import Any

import pytest

from navi.live.model.usage_limit import CONTINUE
from tests.acceptance.clients.conftest import DRIVERS, World, frames_of, text_of
from tests.acceptance.contract.conftest import finished, receive
from tests.server import Client

pytestmark = pytest.mark.proof

APIS = {"claude_code": "anthropic_api", "codex": "openai_api"}
SETTINGS = {
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "ANTHROPIC_API_KEY": "",
    "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-dummy",
    "NAVI_USAGE_LIMITS_MARGIN_SECONDS": "1",
    "NAVI_USAGE_LIMITS_SPACING_SECONDS": "0.25",
    "NAVI_USAGE_LIMITS_FIRST_PAUSE_SECONDS": "4",
    "NAVI_TURNS_MAX_CONCURRENT": "4",
}
SILENT = "[[limited]] [[say: finished]]"
HALF = "[[bash: echo once >> {name}]] [[limited]] [[say: finished]]"
GOES_ON = ("finished", f"ok: {CONTINUE[:40]}")
"""What the stand-in says then. Claude Code shows it the continuation as part of the same turn."""
NIGHT_SECONDS = 45


def used_up(agent: str, resets_at: int) -> str:
    """The answer of a vendor whose usage limit is reached."""
    if agent == "claude_code":
        headers = {
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-reset": str(resets_at),
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
        }
        return f"429 | {json.dumps({'headers': headers})}"
    headers = {
        "x-codex-primary-used-percent": "100",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-at": str(resets_at),
    }
    body = {"error": {"type": "usage_limit_reached", "resets_at": resets_at}}
    return f"429 | {json.dumps({'headers': headers, 'body': body})}"


class Limit:
    """Both agents' accounts are limited until `resets_at`. Some vendors don't say until when."""

    def __init__(self, seconds: int, *names_reset: str) -> None:
        self.resets_at = int(time.time()) + seconds
        self._named = {APIS[each]: each for each in names_reset}
        self.refused: list[tuple[str, float]] = []

    def __call__(self, api: str) -> str | None:
        if time.time() >= self.resets_at:
            return None
        self.refused.append((api, time.time()))
        agent = self._named.get(api)
        return "429" if agent is None else used_up(agent, self.resets_at)


async def idle(client: Client, session_id: str) -> None:
    while not (await client.call("GET", f"/sessions/{session_id}/wait?seconds=20"))["idle"]:
        pass


async def history(client: Client, session_id: str) -> list[dict[str, Any]]:
    """All events of a session that is idle."""
    last = (await client.call("GET", f"/sessions/{session_id}/snapshot"))["after"]
    frames: list[dict[str, Any]] = []
    async with client.watch(session_id, after=0) as socket:
        while not frames or frames[-1].get("seq", 0) < last:
            frames.append(await receive(socket))
    return frames


def at(frame: dict[str, Any]) -> float:
    return datetime.fromisoformat(frame["at"]).timestamp()


@pytest.mark.parametrize("names_reset", [True, False], ids=["named", "unnamed"])
@pytest.mark.parametrize("agent", DRIVERS)
async def test_a_turn_continues_after_the_reset_and_its_tool_has_run_once(
    world: World, agent: str, names_reset: bool
) -> None:
    world.serve(**SETTINGS)
    limit = Limit(15, *([agent] if names_reset else []))
    world.models.limit_of = limit
    async with world.client() as client:
        session_id = await world.session(client, agent)
        await client.say(session_id, HALF.format(name="made"))
        await finished(client, session_id)
        session = await client.call("GET", f"/sessions/{session_id}")
        [row] = await client.call("GET", "/limits")
        assert (row["account"], row["waiting_inputs"]) == (f"{agent}:local", 1)
        assert row["until"] == session["limit_until"]
        if names_reset:
            assert (row["kind"], row["used_percent"]) == ("five_hour", 100)
            assert datetime.fromisoformat(row["resets_at"]).timestamp() == limit.resets_at

        await idle(client, session_id)
        frames = await history(client, session_id)
        starts, ends = frames_of(frames, "stream_start"), frames_of(frames, "stream_end")
        assert {end["outcome"] for end in ends[:-1]} == {"limit"}
        assert ends[-1]["outcome"] == "ok"
        if names_reset:
            assert [at(start) > limit.resets_at for start in starts] == [False, True]
        assert text_of(frames).startswith(GOES_ON)
        assert any(CONTINUE[:40] in each for each in world.models.requests)
        assert (world.work / "made").read_text() == "once\n"


async def test_a_turn_whose_sub_agent_met_the_limit_is_not_ok_and_goes_on(world: World) -> None:
    world.serve(**SETTINGS)
    limit = Limit(12, "claude_code")
    world.models.limit_of = limit
    world.models.otherwise = "[[bash: echo once >> made]] [[limited]] [[say: sub done]]"
    task = {"description": "x", "prompt": "do it", "subagent_type": "general-purpose"}
    try:
        async with world.client() as client:
            session_id = await world.session(client, "claude_code")
            # The main agent needs the vendor once more, and gets its answer.
            call = f"[[tool: Agent | {json.dumps(task)}]] [[say: main done]]"
            await client.say(session_id, call)
            [end] = frames_of(await finished(client, session_id), "stream_end")
            assert (end["outcome"], "HTTP 429" in end["error"]) == ("limit", True)
            world.models.otherwise = ""
            await idle(client, session_id)
            frames = await history(client, session_id)
            starts, ends = frames_of(frames, "stream_start"), frames_of(frames, "stream_end")
            assert [end["outcome"] for end in ends] == ["limit", "ok"]
            assert at(starts[1]) > limit.resets_at
            assert any("Continue the sub-agents" in each for each in world.models.requests)
            assert (world.work / "made").read_text() == "once\n"
    finally:
        world.models.otherwise = ""


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.parametrize("agent", DRIVERS)
async def test_a_pane_continues_too_and_shares_its_agents_account(world: World, agent: str) -> None:
    world.serve(**SETTINGS)
    limit = Limit(25, agent)
    world.models.limit_of = limit
    async with world.client() as client:
        session_id = await world.session(client, "tmux", program=agent)
        await client.say(session_id, HALF.format(name="made"))
        await finished(client, session_id)
        rows = await client.call("GET", "/limits")
        assert {row["account"] for row in rows} == {f"{agent}:local"}
        await idle(client, session_id)
        frames = await history(client, session_id)
        ends = [end["outcome"] for end in frames_of(frames, "stream_end")]
        assert (set(ends[:-1]), ends[-1]) == ({"limit"}, "ok")
        assert (world.work / "made").read_text() == "once\n"


@pytest.mark.parametrize("named", DRIVERS)
async def test_twenty_sessions_of_both_agents_continue_after_their_limits(
    world: World, named: str
) -> None:
    """20 sessions of both agents, of which one names its reset and the other doesn't."""
    world.serve(**SETTINGS)
    async with world.client() as client:
        sessions: dict[str, str] = {}
        for number in range(20):
            agent = DRIVERS[number % 2]
            sessions[await world.session(client, agent, name=f"night {number}")] = agent
        limit = Limit(NIGHT_SECONDS, named)
        world.models.limit_of = limit
        automations = []
        for number, session_id in enumerate(sessions):
            text = SILENT if number % 4 < 2 else HALF.format(name=session_id)
            if number % 5 == 4:
                body = {"name": "night", "message": text, "at": "now", "max_failures": 1}
                path = f"/sessions/{session_id}/automations"
                automations.append((await client.call("POST", path, body, expect=201))["id"])
            else:
                await client.say(session_id, text)
        await asyncio.gather(*(idle(client, each) for each in sessions))

        tried_early = 0
        for number, (session_id, agent) in enumerate(sessions.items()):
            frames = await history(client, session_id)
            starts, ends = frames_of(frames, "stream_start"), frames_of(frames, "stream_end")
            outcomes = [end["outcome"] for end in ends]
            assert outcomes.count("ok") == 1, (session_id, outcomes)
            assert outcomes[-1] == "ok"
            assert set(outcomes[:-1]) <= {"limit"}
            if agent == named:
                assert len(outcomes) <= 2
                assert all(at(start) > limit.resets_at for start in starts[1:])
            tried_early += sum(at(start) < limit.resets_at for start in starts)
            if number % 4 < 2:
                assert text_of(frames) == "finished"
            else:
                assert (world.work / session_id).read_text() == "once\n"
                assert text_of(frames).startswith(GOES_ON)
        assert tried_early < 20
        for automation_id in automations:
            automation = await client.call("GET", f"/automations/{automation_id}")
            assert (automation["failures_in_row"], automation["last_status"]) == (0, "ok")
            [run] = await client.call("GET", f"/automations/{automation_id}/runs")
            assert (run["state"], run["outcome"]) == ("turn_completed", "ok")
        limits = await client.call("GET", "/limits")
        assert {(each["until"], each["waiting_inputs"]) for each in limits} == {(None, 0)}
