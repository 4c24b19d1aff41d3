"""Real agents have the rights of their session's user, whichever way they call Navi."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.clients.conftest import DRIVERS, World, frames_of, outcomes
from tests.acceptance.clients.world import TOOL
from tests.server import NAVI, Client

WAYS: list[dict[str, str]] = [
    *({"driver": driver} for driver in DRIVERS),
    *({"driver": "tmux", "model": driver} for driver in DRIVERS),
]
SM = Path(sys.executable).parent / "sm"
LOOK = (
    f"env >seen; {SM} all >listed 2>&1; env -u NAVI_SESSION_ID {SM} kill OTHER >killed 2>&1; true"
)


@pytest.fixture
async def client(world: World) -> AsyncIterator[Client]:
    world.serve(
        SECRET_OF_THE_SERVER="hush",
        OPENAI_API_KEY="dummy-openai",
        # No one is there to grant permission.
        NAVI_CLAUDE_CODE_ARGUMENTS="--dangerously-skip-permissions",
    )
    async with world.client() as client:
        yield client


@pytest.fixture
async def bob(world: World, client: Client) -> AsyncIterator[Client]:
    """A user who is not an admin."""
    command = [*NAVI, "user", "add", "bob"]
    added = await asyncio.to_thread(
        subprocess.run, command, env=world.server.environment, capture_output=True, check=True
    )
    async with Client(client.address, added.stdout.decode().split()[-1], 30) as bob:
        yield bob


@pytest.mark.proof
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way.values()))
async def test_in_its_shell_an_agent_can_do_what_its_user_can(
    world: World, client: Client, bob: Client, way: dict[str, str]
) -> None:
    others = await client.session(name="the admin's")
    his = await world.session(bob, name="his own", **way)
    frames = await world.turn(bob, his, f"[[bash: {LOOK.replace('OTHER', others)}]] [[say: ok]]")

    assert outcomes(frames) == ["ok"]
    seen = variables(world.work / "seen")
    assert seen["NAVI_SESSION_ID"] == his
    assert seen["NAVI_TOKEN"].startswith("navi_session_")
    assert world.server.token not in seen.values()
    assert "SECRET_OF_THE_SERVER" not in seen
    keys = {"claude_code": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY"}
    assert {agent for agent, key in keys.items() if key in seen} <= set(way.values())
    assert "his own" in (world.work / "listed").read_text()
    assert "the admin's" not in (world.work / "listed").read_text()
    assert "belongs to someone else" in (world.work / "killed").read_text()
    assert (await client.call("GET", f"/sessions/{others}"))["state"] == "idle"


@pytest.mark.proof
@pytest.mark.parametrize("has_setup", [False, True], ids=["as-it-is", "after-setup"])
@pytest.mark.parametrize("driver", DRIVERS)
async def test_by_navis_tools_an_agent_can_do_what_its_user_can(
    world: World, client: Client, bob: Client, driver: str, has_setup: bool
) -> None:
    if has_setup:
        # The tools then run as a program that can read the admin's token.
        world.set_up(driver)
    others = await client.session(name="the admin's")
    his = await world.session(bob, driver)
    search, send = (TOOL[driver].format(name) for name in ("search_sessions", "send_message"))
    frames = await world.turn(
        bob,
        his,
        f'[[tool: {search} | {{"query": "zebra"}}]]'
        f'[[tool: {send} | {{"target": "{others}", "text": "hello"}}]] [[say: ok]]',
    )

    assert outcomes(frames) == ["ok"]
    results = [str(call["result"]) for call in frames_of(frames, "tool_call")]
    assert "only an admin's sessions may search the memory" in results[0]
    assert "no session" in results[1]
    assert await client.messages(others) == []


def variables(path: Path) -> dict[str, Any]:
    lines = path.read_text().splitlines()
    return {name: value for name, _, value in (line.partition("=") for line in lines)}
