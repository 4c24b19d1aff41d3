"""Users lose nothing when the store, the network or the machine fails."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from navi.live.store.engine import schema
from navi.live.store.engine.connection import open_engine
from tests.acceptance.flows import ledger
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.ledger import Sent
from tests.acceptance.flows.storm import at_rest
from tests.postgres import PostgresServer
from tests.server import NAVI, Client, ServerProcess
from tests.waiting import eventually

pytestmark = pytest.mark.proof

RESTARTS = 3


@pytest.fixture
def own_postgres(tmp_path: Path) -> Iterator[PostgresServer]:
    """A PostgreSQL that no other test uses, to be restarted at will."""
    server = PostgresServer.start(tmp_path / "own", fsync=False)
    try:
        yield server
    finally:
        server.stop()


async def test_nothing_is_lost_when_postgresql_restarts_during_turns_and_admissions(
    serve: Serve, own_postgres: PostgresServer
) -> None:
    server = serve(own_postgres.create_database())
    sent: list[Sent] = []
    async with server.client(timeout=60) as client:
        session_ids = [await client.session() for _ in range(8)]
        is_over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for session_id in session_ids:
                group.create_task(_send_until(is_over, client, session_id, sent))
            for _ in range(RESTARTS):
                await _until_more_are_sent(sent, 2 * len(session_ids))
                await asyncio.to_thread(own_postgres.restart)
            await _until_more_are_sent(sent, 2 * len(session_ids))
            is_over.set()
        final = await at_rest(server.database_url)

    assert ledger.violations(final, sent) == []
    assert all(turn.outcome == "ok" or turn.died_empty for turn in final.turns)


async def test_while_postgresql_is_away_requests_are_refused_with_a_hint_and_turns_wait(
    serve: Serve, own_postgres: PostgresServer
) -> None:
    server = serve(own_postgres.create_database())
    async with server.client() as client:
        session_id = await client.session()
        sent = [
            Sent("before-1", session_id, "[[say: one]] [[sleep: 0.3]] [[say: two]]", "one two"),
            Sent("during-1", session_id, "[[say: three]]", "three"),
        ]
        await client.say(session_id, sent[0].text, input_id="before-1")
        await eventually(lambda: _has_spoken(server), what="the turn has begun to speak")

        own_postgres.kill()
        await _require_refusal(client, sent[1])
        own_postgres.restart()
        await client.say(session_id, sent[1].text, input_id="during-1")
        final = await at_rest(server.database_url)

    assert ledger.violations(final, sent) == []
    assert [turn.outcome for turn in final.turns] == ["ok", "ok"]


async def test_while_a_row_is_locked_in_postgresql_requests_are_refused_with_a_hint(
    serve: Serve, postgres: PostgresServer
) -> None:
    server = serve(postgres.create_database())
    async with server.client() as client:
        sent = [Sent("locked-1", await client.session(), "[[say: done]]", "done")]
        with psycopg.connect(server.database_url) as connection:
            connection.execute("SELECT last_position FROM feed FOR UPDATE")
            await _require_refusal(client, sent[0])
        await client.say(sent[0].session_id, sent[0].text, input_id="locked-1")
        final = await at_rest(server.database_url)

    assert ledger.violations(final, sent) == []


async def test_while_the_sqlite_file_is_locked_requests_are_refused_with_a_hint_and_turns_wait(
    serve: Serve,
) -> None:
    server = serve()
    async with server.client() as client:
        session_id = await client.session()
        sent = [
            Sent("before-1", session_id, "[[say: one]] [[sleep: 0.3]] [[say: two]]", "one two"),
            Sent("during-1", session_id, "[[say: three]]", "three"),
        ]
        await client.say(session_id, sent[0].text, input_id="before-1")
        await eventually(lambda: _has_spoken(server), what="the turn has begun to speak")

        with closing(ledger.open_file(server.database_url)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            await _require_refusal(client, sent[1])
        await client.say(session_id, sent[1].text, input_id="during-1")
        final = await at_rest(server.database_url)

    assert ledger.violations(final, sent) == []
    assert [turn.outcome for turn in final.turns] == ["ok", "ok"]


async def test_an_interrupted_server_closes_its_turns_and_the_next_one_goes_on(
    serve: Serve, database_url: str | None
) -> None:
    server = serve(database_url)
    async with server.client() as client:
        silent = await client.session()
        speaking = await client.session()
        sent = [
            Sent("silent-1", silent, "[[sleep: 600]] [[say: never]]"),
            Sent("speaking-1", speaking, "[[say: begun]] [[sleep: 600]] [[say: never]]"),
            Sent("speaking-2", speaking, "[[say: answer]]", "answer"),
        ]
        for each in sent:
            await client.say(each.session_id, each.text, input_id=each.input_id)
        await eventually(lambda: _has_spoken(server), what="the turn has begun to speak")

    exit_code = await asyncio.to_thread(server.stop)

    left = ledger.read(server.database_url)
    assert exit_code == 130
    assert "Traceback" not in server.log()
    assert {lane.owner for lane in left.lanes} == {None}
    assert [turn.error for turn in left.turns] == [ledger.SERVER_STOPPED] * 2
    waiting = sorted(row.id for row in left.inputs if row.delivered_at is None)
    assert waiting == ["silent-1", "speaking-2"]

    await asyncio.to_thread(server.start)
    async with server.client() as client:
        await eventually(lambda: _is_running(server, silent), what="the silent turn runs again")
        await client.call("POST", f"/sessions/{silent}/stop")
        final = await at_rest(server.database_url)

    assert ledger.violations(final, sent) == []
    assert [turn.outcome for turn in final.turns if turn.session_id == silent] == [
        "error",
        "stopped",
    ]
    assert [turn.outcome for turn in final.turns if turn.session_id == speaking] == ["error", "ok"]


def test_a_port_in_use_is_refused_in_one_line_with_a_hint(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error, hint = _refused_start(tmp_path, "--port", str(port), exit_code=2)

    assert f"127.0.0.1:{port}" in error
    assert "--port" in hint


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_home_that_cannot_be_written_is_refused_in_one_line_with_a_hint(
    tmp_path: Path, place: str
) -> None:
    (tmp_path / "file").write_text("not a folder")
    home = str(tmp_path / place)

    error, hint = _refused_start(tmp_path, settings={"NAVI_HOME": home}, exit_code=1)

    assert home in error
    assert "NAVI_HOME" in hint


def test_a_database_from_a_newer_navi_is_refused_in_one_line_with_a_hint(
    tmp_path: Path, database_url: str | None
) -> None:
    (tmp_path / "navi").mkdir()
    url = database_url or f"sqlite:///{tmp_path / 'navi' / 'navi.sqlite3'}"
    schema.prepare(url)
    _write(url, "UPDATE alembic_version SET version_num = '9999'")

    error, hint = _refused_start(tmp_path, settings={"NAVI_DATABASE_URL": url}, exit_code=1)

    assert "newer" in error
    assert "9999" in error
    assert "upgrade" in hint


def test_a_file_that_is_not_a_database_is_refused_in_one_line_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "navi").mkdir()
    (tmp_path / "navi" / "navi.sqlite3").write_text("a shopping list\n" * 1000)

    error, _ = _refused_start(tmp_path, exit_code=1)

    assert "navi.sqlite3" in error


def test_a_postgresql_that_is_not_there_is_refused_in_one_line_with_a_hint(tmp_path: Path) -> None:
    url = f"postgresql://navi@/navi?host={tmp_path}"

    _, hint = _refused_start(tmp_path, settings={"NAVI_DATABASE_URL": url}, exit_code=1)

    assert "NAVI_DATABASE_URL" in hint


async def _send_until(
    is_over: asyncio.Event, client: Client, session_id: str, sent: list[Sent]
) -> None:
    number = 0
    while not is_over.is_set():
        number += 1
        answer = f"answer {number}"
        pause = "[[sleep: 0.2]]" if number % 2 else ""
        text = f"[[say: hm]] {pause} [[bash: true]] {pause} [[say: {answer}]]"
        each = Sent(f"{session_id}-{number}", session_id, text, answer)
        while (response := await _post(client, each)).status_code == 503:
            assert response.json()["error"]["hint"]
        assert response.status_code == 202, response.text
        sent.append(each)


async def _until_more_are_sent(sent: list[Sent], more: int) -> None:
    enough = len(sent) + more

    async def are_sent() -> bool:
        return len(sent) >= enough

    await eventually(are_sent, what=f"{enough} inputs are admitted")


async def _require_refusal(client: Client, each: Sent) -> None:
    response = await _post(client, each)
    assert response.status_code == 503, response.text
    refusal = response.json()["error"]
    assert refusal["kind"] == "store_unavailable"
    assert "try again" in refusal["hint"]
    assert int(response.headers["Retry-After"]) > 0


async def _post(client: Client, each: Sent) -> Any:
    body = {"text": each.text, "input_id": each.input_id}
    return await client.http.post(f"/sessions/{each.session_id}/input", json=body)


async def _has_spoken(server: ServerProcess) -> bool:
    current = await asyncio.to_thread(ledger.read, server.database_url)
    return any(event.type == "stream_delta" for event in current.events)


async def _is_running(server: ServerProcess, session_id: str) -> bool:
    current = await asyncio.to_thread(ledger.read, server.database_url)
    return any(lane.session_id == session_id and lane.turn_id for lane in current.lanes)


def _refused_start(
    home: Path, *arguments: str, settings: Mapping[str, str] = {}, exit_code: int
) -> tuple[str, str]:
    """Start a server that can't start, and return the two lines it leaves on stderr."""
    done = subprocess.run(
        [*NAVI, "serve", "--no-open", *(arguments or ("--port", "0"))],
        env={**os.environ, "NAVI_HOME": str(home / "navi"), **settings},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == exit_code, done.stderr
    assert done.stdout == ""
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")
    return error, hint


def _write(url: str, statement: str) -> None:
    engine = open_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()
