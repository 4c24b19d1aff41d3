"""Conversations become searchable automatically, and no process is left running."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from websockets.asyncio.client import ClientConnection

from tests.acceptance.flows.conftest import Serve
from tests.memory_world import World
from tests.postgres import PostgresServer
from tests.server import NAVI, Client, ServerProcess
from tests.waiting import eventually

FOLLOWING = {"NAVI_INDEX_FOLLOW": "true", "NAVI_MODEL": "scripted"}
PATIENCE_SECONDS = 60


async def index_news(socket: ClientConnection) -> dict[str, Any]:
    """The next frame about the index."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            frame = json.loads(await socket.recv())
            if frame["type"] == "index_refreshed":
                return dict(frame)


@asynccontextmanager
async def watched(server: ServerProcess) -> AsyncIterator[tuple[Client, ClientConnection]]:
    """A client, and a socket on everything, once the index is followed."""
    async with server.client() as client, client.watch() as socket:
        if not (await client.call("GET", "/index"))["is_following"]:
            await index_news(socket)
        yield client, socket


async def search(client: Client, words: str) -> list[dict[str, Any]]:
    return list(await client.call("GET", f"/search?q={words}"))


def follower_of(server: ServerProcess) -> psutil.Process:
    [follower] = psutil.Process(server.process.pid).children()
    assert "watch" in follower.cmdline()
    return follower


async def test_a_finished_turn_is_found_without_anybody_indexing(
    serve: Serve, database_url: str | None
) -> None:
    server = serve(database_url, settings=FOLLOWING)
    async with watched(server) as (client, socket):
        session = await client.session(name="zoo")
        await client.say(session, "[[say: the quokka sleeps]]")
        frame = await index_news(socket)
        while not (hits := await search(client, "quokka")):
            frame = await index_news(socket)
        assert {hit["source_session_id"] for hit in hits} == {session}
        assert set(frame) == {"type", "index"}
        state = await client.call("GET", "/index")
        assert state.pop("meaning")["problem"]["hint"] == "recall model install"
        assert state == frame["index"]
        assert (frame["index"]["is_following"], frame["index"]["problem"]) == (True, None)
        assert frame["index"]["refreshed_at"].endswith("Z")


@pytest.mark.proof
async def test_only_admins_are_told_what_the_index_does(serve: Serve) -> None:
    server = serve(settings=FOLLOWING)
    add = [*NAVI, "user", "add", "bob"]
    added = await asyncio.to_thread(
        subprocess.run, add, env=server.environment, capture_output=True, text=True, check=True
    )
    async with (
        Client(server.address, added.stdout.strip(), 30) as bob,
        bob.watch() as his,
        watched(server) as (client, socket),
    ):
        await client.say(await client.session(), "[[say: the quokka sleeps]]")
        await index_news(socket)
        await his.send('{"type": "ping"}')
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert json.loads(await his.recv()) == {"type": "pong"}


async def test_what_another_agent_writes_to_its_files_is_found(serve: Serve) -> None:
    server = serve(settings=FOLLOWING)
    async with watched(server) as (client, socket):
        World(server.home).file().say("the wombat digs")
        while not await search(client, "wombat"):
            await index_news(socket)


@pytest.mark.proof
async def test_each_server_of_one_store_indexes_what_the_others_said(
    serve: Serve, postgres: PostgresServer, tmp_path: Path
) -> None:
    url = postgres.create_database()
    here, there = (
        serve(url, settings={**FOLLOWING, "RECALL_DATA_DIR": str(tmp_path / name)})
        for name in ("here", "there")
    )
    async with watched(here) as (client, _), watched(there) as (other, news):
        session = await client.session()
        await client.say(session, "[[say: the numbat listens]]")
        while not await search(other, "numbat"):
            await index_news(news)


@pytest.mark.proof
async def test_no_follower_outlives_its_server(serve: Serve) -> None:
    server = serve(settings=FOLLOWING)
    async with watched(server):
        follower = follower_of(server)
    server.kill()
    await asyncio.to_thread(follower.wait, PATIENCE_SECONDS)
    server.start()
    async with watched(server):
        follower = follower_of(server)
    server.stop()
    assert not follower.is_running()


async def test_a_follower_that_dies_is_shown_and_started_again(serve: Serve) -> None:
    server = serve(settings=FOLLOWING)
    async with watched(server) as (_, socket):
        first = follower_of(server)
        first.kill()
        frame = await index_news(socket)
        assert frame["index"]["is_following"] is False
        assert "ended with status -9" in frame["index"]["problem"]["message"]
        frame = await index_news(socket)
        assert (frame["index"]["is_following"], frame["index"]["problem"]) == (True, None)
        assert follower_of(server).pid != first.pid


async def test_a_server_that_does_not_follow_says_so(serve: Serve) -> None:
    server = serve(settings={"NAVI_MODEL": "scripted"})
    async with server.client() as client:
        state = await client.call("GET", "/index")
        assert state.pop("meaning")["problem"]["message"] == "nothing is indexed yet"
        assert state == {"refreshed_at": None, "is_following": False, "problem": None}
        assert psutil.Process(server.process.pid).children() == []


@pytest.mark.proof
async def test_the_follower_gives_way_to_turns(serve: Serve) -> None:
    server = serve(settings=FOLLOWING)
    async with watched(server):

        async def gives_way() -> bool:
            return follower_of(server).nice() > psutil.Process(server.process.pid).nice()

        await eventually(gives_way, what="the follower runs at low priority")
