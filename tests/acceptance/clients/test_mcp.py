"""Real agents that use Navi's tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.clients.conftest import DRIVERS, World, frames_of, native, outcomes
from tests.acceptance.clients.world import TOOL
from tests.acceptance.contract.conftest import finished
from tests.server import Client

# Long enough for the turn to end on a loaded machine; otherwise the recall follows at once.
SCHEDULE = (
    '[[tool: NAME | {"call_type": "once", "when": "10s", '
    '"additional_context_message": "Read build.log and report."}]] [[say: See you.]]'
)


@pytest.mark.proof
@pytest.mark.parametrize("driver", DRIVERS)
async def test_an_agent_schedules_its_own_recall_and_is_woken_with_no_process_in_between(
    world: World, client: Client, driver: str
) -> None:
    session_id = await world.session(client, driver)

    name = TOOL[driver].format("schedule_recall")
    frames = await world.turn(client, session_id, SCHEDULE.replace("NAME", name))

    assert outcomes(frames) == ["ok"]
    [call] = frames_of(frames, "tool_call")
    assert call["result"].startswith("Scheduled: ")
    assert running_clients(world) == []
    frames = await finished(client, session_id, turns=2)
    assert [each["origin"] for each in frames_of(frames, "stream_start")] == ["user", "recall"]
    assert outcomes(frames) == ["ok", "ok"]
    assert len(world.transcripts()) == 1
    assert "Read build.log and report." in world.transcripts()[0].read_text()


@pytest.mark.parametrize("driver", DRIVERS)
async def test_a_refused_call_tells_the_agent_what_a_person_would_see(
    world: World, client: Client, driver: str
) -> None:
    session_id = await world.session(client, driver)
    name = TOOL[driver].format("manage_recall")
    frames = await world.turn(
        client, session_id, f'[[tool: {name} | {{"action": "cancel"}}]] [[say: Alas.]]'
    )
    [call] = frames_of(frames, "tool_call")
    assert "no pending recall" in call["result"]
    assert call["is_error"]
    assert outcomes(frames) == ["ok"]


def running_clients(world: World) -> list[str]:
    """The clients that run in this test's home."""
    programs = {native("claude").resolve(), native("codex").resolve()}
    names = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = f"HOME={world.home}".encode() in (process / "environ").read_bytes()
            if is_ours and (process / "exe").resolve() in programs:
                names.append(process.name)
        except OSError:
            pass
    return names
