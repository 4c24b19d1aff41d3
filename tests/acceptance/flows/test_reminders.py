"""Reminders across real servers that die, restart, and race."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from navi.live.model.scheduling.reminder import RESUME_TEXT, SOFT_TEXT
from tests.acceptance.contract.conftest import receive_until
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.failpoints import WITH_FAILPOINTS, set_failpoint, work_until_it_dies
from tests.acceptance.flows.ledger import snapshot
from tests.acceptance.flows.moved_clock import WITH_MOVED_CLOCK, move_clock
from tests.acceptance.flows.pair import start_pair
from tests.postgres import PostgresServer
from tests.server import Client, ServerProcess
from tests.waiting import eventually

pytestmark = pytest.mark.proof


@pytest.mark.parametrize(
    # Each once: every combination would take too long.
    ("operation", "moment", "database_url"),
    [("due_nudges.claim", "before", "sqlite"), ("due_reminders.claim", "after", "postgresql")],
    indirect=["database_url"],
)
async def test_a_reminder_survives_a_death_at_its_commit_and_comes_once(
    serve: Serve, database_url: str | None, operation: str, moment: str
) -> None:
    server = serve(database_url, command=WITH_FAILPOINTS)
    async with server.client() as client:
        once, again = await client.session(), await client.session()
        await remind_once(client, once, 0.5)
        await remind_again(client, again)
    server.kill()
    set_failpoint(server, f"{moment} {operation}:1")

    async def work() -> None:
        # The ones above may have fired before the first server was killed.
        async with server.client() as client:
            await remind_once(client, await client.session(), 0.1)
            await remind_again(client, await client.session())

    await work_until_it_dies(server, work)
    set_failpoint(server, None)
    server.start()

    assert await until_came(server, once, 1) == ["[sm remind] hello"]
    assert await until_came(server, again, 1) == [SOFT_TEXT]


async def test_a_reminder_whose_time_came_while_no_server_ran_comes_once_at_the_start(
    serve: Serve,
) -> None:
    server = serve(command=WITH_MOVED_CLOCK)
    async with server.client() as client:
        session_id = await client.session()
        await remind_once(client, session_id, 60)
    server.stop()
    move_clock(server, 60)
    for _ in range(2):
        server.start()
        assert await until_came(server, session_id, 1) == ["[sm remind] hello"]
        server.stop()


@pytest.mark.parametrize("hard_gap", [600, 60])
async def test_a_task_that_a_killed_server_had_not_shown_precedes_its_nudges(
    serve: Serve, hard_gap: int
) -> None:
    settings = {"NAVI_REMIND_HARD_GAP_SECONDS": str(hard_gap)}
    server = serve(settings=settings, command=WITH_MOVED_CLOCK)
    async with server.client() as client:
        session_id = await client.session()
        await client.say(session_id, "[[sleep: 600]]", remind_soft_threshold=60)
    server.kill()
    move_clock(server, 130)  # past both thresholds, if the gap is short
    server.start()

    frames: list[dict[str, Any]] = []
    async with server.client() as client, client.watch(session_id, after=0) as socket:
        while [each["type"] for each in frames].count("stream_start") < 2:
            frames += await receive_until(socket, "stream_start")
        frames += await receive_until(socket, "remind_update")
    assert [each["origin"] for each in frames if each["type"] == "stream_start"] == ["user", "user"]
    again = frames[-1]["remind"]
    assert again["last_reset_at"] == again["registered_at"]
    assert not again["soft_fired"]


async def test_of_two_servers_that_look_at_the_same_moment_one_reminds(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres)
    async with pair.servers[0].client() as first, pair.servers[1].client() as second:
        sessions = [await first.session() for _ in range(20)]
        for number, session_id in enumerate(sessions):
            await remind_once((first, second)[number % 2], session_id, 1)
        for session_id in sessions:
            came = await until_came(pair.servers[0], session_id, 1)
            assert came == ["[sm remind] hello"]
        # The servers keep looking and find nothing more.
        other = await second.session()
        await remind_once(second, other, 0.5)
        await until_came(pair.servers[1], other, 1)
        for session_id in sessions:
            assert await until_came(pair.servers[0], session_id, 1) == ["[sm remind] hello"]


async def test_a_hard_reminder_interrupts_a_turn_that_another_server_runs(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres, settings={"NAVI_REMIND_HARD_GAP_SECONDS": "1"})
    async with pair.servers[0].client() as client:
        made = [await client.session() for _ in range(4)]
        for session_id in made:
            await client.say(session_id, "[[sleep: 600]]", remind_soft_threshold=1)
        for session_id in made:
            # Either server may have noticed that it was due.
            came = await until_came(pair.servers[0], session_id, 1)
            assert came == [RESUME_TEXT]


async def remind_once(client: Client, session_id: str, delay: float) -> None:
    body = {"session_id": session_id, "delay_seconds": delay, "message": "hello"}
    await client.call("POST", "/scheduler/remind", body)


async def remind_again(client: Client, session_id: str) -> None:
    path = f"/sessions/{session_id}/remind"
    await client.call("POST", path, {"soft_threshold": 1})


async def until_came(server: ServerProcess, session_id: str, count: int) -> list[str]:
    """The reminders in the session, once that many have been answered."""

    async def answered() -> list[Any]:
        return await asyncio.to_thread(_came, server.database_url, session_id, count)

    return list(await eventually(answered, what=f"{count} reminders of {session_id}"))


def _came(url: str, session_id: str, count: int) -> list[str]:
    with snapshot(url) as query:
        came = query(
            "SELECT content FROM messages WHERE role = 'user' AND source = 'reminder' "
            f"AND session_id = '{session_id}' ORDER BY idx"
        )
        running = query(f"SELECT 1 FROM lanes WHERE session_id = '{session_id}' AND turn_id <> ''")
    return [text for (text,) in came] if len(came) >= count and not running else []
