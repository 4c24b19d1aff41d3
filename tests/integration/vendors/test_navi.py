"""Navi's own sessions, in a real store."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from navi.base.errors import StoreUnusable
from navi.live.model.event import TextDelta, ThinkingDelta, ToolFinished, ToolStarted
from navi.live.model.input import Origin
from navi.live.model.turn import Ending, Outcome
from navi.live.store import lanes, turns
from navi.live.store.engine import schema
from navi.live.store.engine.connection import public_address
from navi.live.store.engine.dialects.sqlite import sqlite_url
from navi.memory.model import SessionFile
from navi.vendors.navi.history import NaviSource
from navi.vendors.source import Rewritten
from tests.store_world import World, store_world
from tests.unit.vendors.rows import rows_of


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch, prepared_url: str) -> AsyncIterator[World]:
    monkeypatch.setenv("NAVI_DATABASE_URL", prepared_url)
    async with store_world(prepared_url) as world:
        yield world


def only_file() -> SessionFile:
    [file] = NaviSource().discover()
    return file


async def test_a_session_is_read_while_its_server_runs(world: World) -> None:
    session = await world.session(name="a name", model="anthropic:x", cwd="/home/ada/p")
    await world.turn(
        session,
        "build it",
        ThinkingDelta("hm"),
        TextDelta("I look."),
        ToolStarted("1", "terminal", {"command": "ls -l"}),
        ToolStarted("2", "http_request", {"url": "x"}),
        ToolFinished("1", "terminal", {"command": "ls -l"}, "README.md"),
        ToolFinished("2", "http_request", {"url": "x"}, "ok"),
    )
    file = only_file()
    assert file.path == f"{public_address(world.store.url)}#{session.id}"
    rows = rows_of(NaviSource(), file.path)
    assert [(m.role, m.content, m.thinking) for m in rows.messages][:2] == [
        ("user", "build it", None),
        ("assistant", "I look.", "hm"),
    ]
    first, second = rows.tool_calls
    assert (first.message_idx, first.idx, first.tool_name) == (1, 0, "terminal")
    assert json.loads(first.tool_input or "") == {"command": "ls -l"}
    assert first.command == "ls -l"
    assert (second.message_idx, second.idx, second.command) == (1, 1, None)
    assert rows.tokens == (10, 5, 100, 20)
    indexed = rows.session
    assert (indexed.source_session_id, indexed.title, indexed.model, indexed.cwd) == (
        session.id,
        "a name",
        "anthropic:x",
        "/home/ada/p",
    )
    assert indexed.started_at == session.created_at
    assert not indexed.is_subagent


async def test_what_was_added_since_a_mark_is_read_alone(world: World) -> None:
    session = await world.session()
    await world.turn(session, "one", TextDelta("first"))
    before = only_file()
    rows = rows_of(NaviSource(), before.path)
    begun = await world.begun(session, "two")
    half = rows_of(NaviSource(), before.path, rows.mark)
    assert [message.content for message in half.by_idx.values()] == ["two"]
    await world.finish(begun.turn, TextDelta("second"))
    after = only_file()
    assert (after.mtime, after.size) > (before.mtime, before.size)
    last = rows_of(NaviSource(), after.path, half.mark)
    assert [message.content for message in last.by_idx.values()] == ["second"]
    assert [usage.output_tokens for usage in last.by_key.values()] == [5]
    whole = rows_of(NaviSource(), after.path)
    assert whole.by_idx == rows.by_idx | half.by_idx | last.by_idx
    assert whole.by_key == rows.by_key | half.by_key | last.by_key
    assert (whole.mark, whole.session) == (last.mark, last.session)


async def test_a_message_that_was_taken_back_means_reading_again(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session, "never begun")
    file = only_file()
    mark = rows_of(NaviSource(), file.path).mark
    running = await world.store.transact(lanes.running)
    [dead] = [turn for turn in running if turn.id == begun.turn.id]
    await world.store.transact(turns.close_dead, dead, world.later())
    with pytest.raises(Rewritten):
        NaviSource().read(file, mark)


async def test_only_a_person_s_words_are_the_user_s(world: World) -> None:
    session = await world.session()
    await world.turn(session, "wake up", TextDelta("ok"), origin=Origin.REMINDER)
    assert rows_of(NaviSource(), only_file().path).contents[0] == ("system", "wake up")


async def test_a_child_has_its_parent(world: World) -> None:
    parent = await world.session()
    child = await world.session(parent_id=parent.id)
    await world.turn(child, "count", TextDelta("3"))
    session = rows_of(NaviSource(), only_file().path).session
    assert (session.parent_source_session_id, session.is_subagent) == (parent.id, True)


async def test_sessions_of_agents_with_files_of_their_own_are_left_to_them(world: World) -> None:
    await world.turn(await world.session(driver="claude_code"), "hello", TextDelta("hi"))
    await world.session()  # it has no messages
    assert list(NaviSource().discover()) == []


async def test_a_message_that_cannot_be_decoded_is_counted_and_the_others_are_read(
    world: World,
) -> None:
    session = await world.session()
    await world.turn(session, "one", TextDelta("first"))
    await world.turn(session, "two", TextDelta("second"))
    await world.store.transact(
        lambda connection: connection.execute(
            text("UPDATE messages SET tool_calls = '[{\"nonsense\": 1}]' WHERE content = 'first'")
        )
    )
    rows = rows_of(NaviSource(), only_file().path)
    contents = {idx: message.content for idx, message in rows.by_idx.items()}
    assert contents == {0: "one", 2: "two", 3: "second"}
    assert rows.session.bad_lines == 1


async def test_sessions_of_another_store_are_not_taken_for_deleted_ones(world: World) -> None:
    await world.turn(await world.session(), "one", TextDelta("first"))
    assert NaviSource().covers(only_file().path)
    assert not NaviSource().covers("/srv/elsewhere/navi.sqlite3#abc")
    assert not NaviSource().covers("postgresql://localhost:5432/another#abc")


async def test_a_password_is_not_part_of_a_session_s_path() -> None:
    address = public_address("postgresql://ada:pa55word@db.example:6432/navi?sslmode=require")
    assert address == "postgresql://db.example:6432/navi"


async def test_a_stamp_changes_when_something_was_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = sqlite_url(tmp_path / "navi.sqlite3")
    monkeypatch.setenv("NAVI_DATABASE_URL", url)
    schema.prepare(url)
    async with store_world(url) as world:
        before = NaviSource().stamp()
        assert NaviSource().stamp() == before
        await world.session()
        assert NaviSource().stamp() != before
    monkeypatch.setenv("NAVI_DATABASE_URL", "postgresql://localhost/navi")
    assert NaviSource().stamp() is None


async def test_a_store_without_a_server_is_read_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "navi home #1" / "navi.sqlite3"
    path.parent.mkdir()
    monkeypatch.setenv("NAVI_HOME", str(path.parent))
    schema.prepare(sqlite_url(path))
    async with store_world(sqlite_url(path)) as world:
        await world.turn(await world.session(), "one", TextDelta("first"))
    path.chmod(0o400)
    content = path.read_bytes()
    assert rows_of(NaviSource(), only_file().path).words("user") == ["one"]
    assert path.read_bytes() == content


def test_a_missing_store_is_not_created(private_home: Path) -> None:
    assert list(NaviSource().discover()) == []
    assert list(private_home.iterdir()) == []


def test_a_store_that_cannot_be_reached_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAVI_DATABASE_URL", "postgresql://ada:pa55word@127.0.0.1:1/navi")
    with pytest.raises(StoreUnusable, match="can't read Navi's sessions in postgresql://127") as e:
        list(NaviSource().discover())
    assert "pa55word" not in e.value.message


def test_a_file_that_is_not_a_store_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a #folder" / "navi.sqlite3"
    path.parent.mkdir()
    monkeypatch.setenv("NAVI_HOME", str(path.parent))
    for content in (b"", b"not a database at all" * 100):
        path.write_bytes(content)
        with pytest.raises(StoreUnusable, match="can't read Navi's sessions"):
            list(NaviSource().discover())


async def test_a_session_deleted_since_is_a_missing_file(world: World) -> None:
    await world.turn(await world.session(), "one", TextDelta("first"))
    address = public_address(world.store.url)
    with pytest.raises(FileNotFoundError):
        NaviSource().read(SessionFile(f"{address}#gone", 0, 0))


async def test_turns_are_read_with_their_origin_and_outcome_once_they_are_over(
    world: World,
) -> None:
    session = await world.session()
    await world.turn(session, "one", TextDelta("first"))
    failed = await world.begun(session, "two", origin=Origin.RECALL)
    path = only_file().path
    rows = rows_of(NaviSource(), path)
    assert [(turn.origin, turn.outcome) for turn in rows.turns] == [("user", "ok")]
    await world.finish(
        failed.turn, TextDelta("hm"), ending=Ending(Outcome.ERROR, "no model is set up")
    )
    rows = rows_of(NaviSource(), path, rows.mark)
    last = rows.turns[-1]
    assert (last.origin, last.outcome, last.error) == ("recall", "error", "no model is set up")
