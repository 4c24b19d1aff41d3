"""Sessions that a person started in their own terminal, with the real agents."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.clients.conftest import DRIVERS, World, outcomes, text_of
from tests.acceptance.clients.terminal import Terminal, adopted
from tests.acceptance.contract.conftest import finished
from tests.server import Client
from tests.waiting import eventually

pytestmark = [
    pytest.mark.parametrize("driver", DRIVERS),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
UNATTENDED = {
    "claude_code": ["claude", "-p"],
    "codex": ["codex", "exec", "--skip-git-repo-check"],
}
RECALL_INDEX = [sys.executable, "-m", "navi.cli.recall.main", "index"]


def run(order: list[str], environment: dict[str, str], cwd: Path) -> None:
    subprocess.run(
        order,
        env=environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        check=True,
        capture_output=True,
        timeout=60,
    )


async def test_a_persons_session_shows_up_and_gets_messages_when_it_stops(
    world: World, client: Client, driver: str
) -> None:
    await asyncio.to_thread(world.set_up, driver)
    terminal = Terminal(world, driver)
    await terminal.shows("❯" if driver == "claude_code" else "›")
    gate = f"{driver}-person"
    await terminal.says(f"[[wait: {gate}]] [[say: done by hand]]")

    session = await adopted(client, driver=driver, state="running")
    assert session["cwd"] == str(world.work)
    assert session["title"] == f"[[wait: {gate}]] [[say: done by hand]]"
    sent = await client.say(session["id"], "[[say: done by message]]")
    assert sent["status"] == "queued"
    world.models.gates[gate].set()

    frames = await finished(client, session["id"])
    assert outcomes(frames) == ["ok"]
    assert text_of(frames).strip() == "done by message"
    await adopted(client, state="idle")
    [transcript] = world.transcripts()
    assert transcript.read_text().count("done by message") >= 2


@pytest.mark.proof
async def test_what_waits_for_a_terminal_that_is_closed_is_done_without_it(
    world: World, client: Client, driver: str
) -> None:
    await asyncio.to_thread(world.set_up, driver)
    terminal = Terminal(world, driver)
    await terminal.shows("❯" if driver == "claude_code" else "›")
    gate = f"{driver}-by-hand"
    await terminal.says(f"[[wait: {gate}]] [[say: by hand]]")
    await adopted(client, driver=driver, state="running")
    world.models.gates[gate].set()
    # Idle after being busy: its hook asked what to do next and got no instruction.
    session = await adopted(client, state="idle")
    sent = await client.say(session["id"], "[[say: without a terminal]]")
    assert sent["status"] == "queued"

    terminal.closes()

    frames = await finished(client, session["id"])
    assert outcomes(frames) == ["ok"]
    assert text_of(frames) == "without a terminal"
    assert len(world.transcripts()) == 1


@pytest.mark.proof
async def test_a_terminal_that_closes_during_its_turn_is_noticed(
    world: World, client: Client, driver: str
) -> None:
    await asyncio.to_thread(world.set_up, driver)
    terminal = Terminal(world, driver)
    await terminal.shows("❯" if driver == "claude_code" else "›")
    gate, second = f"{driver}-first", f"{driver}-told"
    await terminal.says(f"[[wait: {gate}]] [[say: by hand]]")
    session = await adopted(client, driver=driver, state="running")
    await client.say(session["id"], f"[[wait: {second}]] [[say: never said]]")
    world.models.gates[gate].set()
    assert await asyncio.to_thread(world.models.reached[second].wait, 60)
    # The agent would repeat work it forgot with its terminal; here it must remember.
    [transcript] = world.transcripts()
    await eventually(lambda: second in transcript.read_text(), "it is in the transcript")

    terminal.closes()

    frames = await finished(client, session["id"])
    [ending] = outcomes(frames)
    assert "was closed during this turn" in ending
    await adopted(client, state="idle")


@pytest.mark.proof
async def test_a_session_that_somebody_opened_in_a_terminal_is_not_woken_beside_it(
    world: World, client: Client, driver: str
) -> None:
    """Without hooks, Navi notices by itself."""
    session_id = await world.session(client, driver)
    await world.turn(client, session_id, "[[say: by Navi]]")
    [transcript] = world.transcripts()
    name = transcript.stem[-36:]
    resume = ["--resume", name] if driver == "claude_code" else ["resume", name]
    terminal = Terminal(world, driver, *resume)
    await terminal.shows("by Navi")
    await terminal.says("[[say: by hand]]")

    await client.say(session_id, "[[say: after the terminal]]")
    queue = f"/sessions/{session_id}/queue"
    waiting = await eventually(lambda: client.call("GET", queue), "the input waits")
    assert [each["text"] for each in waiting] == ["[[say: after the terminal]]"]
    await terminal.shows("● by hand" if driver == "claude_code" else "• by hand")
    terminal.closes()

    frames = await finished(client, session_id, turns=3)
    assert outcomes(frames)[0] == outcomes(frames)[2] == "ok"
    assert "open in" in outcomes(frames)[1]
    assert text_of(frames).endswith("after the terminal")
    assert len(world.transcripts()) == 1


@pytest.mark.proof
async def test_a_session_that_only_the_memory_knows_is_taken_in_and_goes_on(
    world: World, client: Client, driver: str
) -> None:
    environment = {**world.environment, "HOME": str(world.home)}
    order = [*UNATTENDED[driver], "[[say: long ago]]"]
    await asyncio.to_thread(run, order, environment, world.work)
    await asyncio.to_thread(run, RECALL_INDEX, world.server.environment, world.work)
    [transcript] = world.transcripts()
    path = f"/archive/sessions/{transcript.stem[-36:]}/adopt"

    session = await client.call("POST", path)

    assert (session["driver"], session["cwd"]) == (driver, str(world.work))
    frames = await world.turn(client, session["id"], "[[say: gone on]]")
    assert outcomes(frames) == ["ok"]
    assert text_of(frames) == "gone on"
    assert world.transcripts() == [transcript]
    assert "gone on" in transcript.read_text()
    assert (await client.call("POST", path))["id"] == session["id"]
