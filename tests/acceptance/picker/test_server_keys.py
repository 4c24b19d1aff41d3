"""The picker's keys that need a server: wake a session, open it on the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.picker.conftest import Picker
from tests.memory_world import World
from tests.server import ServerProcess
from tests.waiting import eventually

HINTS = "Enter resume"


@pytest.fixture
def server(world: World) -> Iterator[ServerProcess]:
    with ServerProcess(world.home) as server:
        yield server


async def test_a_session_of_another_agent_is_adopted_and_woken(
    picker: Picker, world: World, server: ServerProcess
) -> None:
    with picker("pick", "rotated", columns=200) as screen:
        await screen.shows(HINTS, "1 of 3")
        screen.press("F5")
        await screen.shows("wake when> 30m")
        screen.press("Escape")
        await screen.shows("recall> rotated", HINTS)
        screen.press("F5")
        await screen.shows("wake when> 30m")
        screen.press("C-u")
        screen.type_text("in 2h")
        screen.press("Enter", "Enter")  # an empty task is not taken
        await screen.shows("what to do> ")
        screen.type_text("Check whether tokens still rotate")
        screen.press("Enter")
        await screen.shows("wakes in 2 h", "recall> rotated")
        screen.press("Down")
        await screen.shows(HINTS)
        screen.press("M-w", "Enter")
        await screen.shows("what to do> ")
        screen.type_text("again")
        screen.press("Enter")
        await screen.shows("is already scheduled to wake")
    async with server.client() as client:
        (session,) = await client.call("GET", "/sessions")
        assert session["cwd"] == str(world.home / "shop")
        recall = session["pending_recall"]
        assert recall["additional_context_message"] == "Check whether tokens still rotate"


async def test_a_session_is_shown_on_the_page_at_its_match(
    picker: Picker, world: World, server: ServerProcess
) -> None:
    (hit,) = world.find("rotated")
    with picker("pick", "rotated", columns=200) as screen:
        await screen.shows(HINTS, "1 of 3")
        screen.press("F7")
        await screen.shows(f"{server.address}/#/archive/{hit.session_id}?message={hit.message_id}")


async def test_a_session_of_navi_says_how_it_continues(
    picker: Picker, world: World, server: ServerProcess
) -> None:
    async with server.client() as client:
        id = await client.session(name="gardener")
        await client.say(id, "Prune the apple trees")

        async def answered() -> bool:
            return len(await client.messages(id)) > 1

        await eventually(answered)
    world.index()
    with picker("pick", "agent:navi", columns=200) as screen:
        await screen.shows("Prune the apple trees", "1 of 4")
        screen.press("Enter")
        ended = await screen.ends()
        assert f'sm send {id} "…"' in ended
        assert "[ended: 0]" in ended
