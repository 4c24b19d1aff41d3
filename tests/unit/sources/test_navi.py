"""Navi's own sessions, in a real store."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from navi.domain.errors import StoreUnusable
from navi.domain.event import TextDelta, ThinkingDelta, ToolFinished, ToolStarted, Usage
from navi.domain.history import FoundFile
from navi.domain.ids import new_id
from navi.domain.input import NewInput, Origin
from navi.domain.message import drafts_of
from navi.domain.session import Session, SessionState
from navi.domain.turn import Ending, Outcome
from navi.sources.navi import Navi
from navi.sources.source import Rewritten
from navi.store import lanes, queue, schema, sessions, turns
from navi.store.connection import sqlite_url
from navi.store.store import Store
from tests.unit.sources.rows import rows_of

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@dataclass
class World:
    store: Store
    path: Path
    now: datetime = NOON

    def later(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    async def session(self, **fields: Any) -> Session:
        now = self.later()
        values: dict[str, Any] = {
            "id": new_id(),
            "name": "a name",
            "driver": "builtin",
            "model": "anthropic:x",
            "cwd": "/home/ada/p",
            "parent_id": None,
            "user_id": "local",
            "state": SessionState.IDLE,
            "task": None,
            "agent_status_text": None,
            "agent_status_at": None,
            "context_from_idx": 0,
            "created_at": now,
            "updated_at": now,
        }
        return await self.store.transact(sessions.create, Session(**{**values, **fields}))

    async def begin(self, session: Session, text: str, **fields: Any) -> turns.Begun:
        new = NewInput(id=new_id(), session_id=session.id, text=text, **fields)
        await self.store.transact(queue.admit, new, self.later())
        now = self.later()
        claim = turns.Claim(new_id(), "me", now + timedelta(seconds=15), now)
        begun = await self.store.transact(turns.begin, session.id, claim)
        assert begun is not None
        return begun

    async def turn(self, session: Session, text: str, *events: Any, **fields: Any) -> None:
        begun = await self.begin(session, text, **fields)
        happened, ending, usage = list(events), Ending(Outcome.OK), Usage(10, 5, 100, 20)
        await self.store.transact(
            turns.finish, begun.turn, 0, happened, drafts_of(happened), ending, usage, self.later()
        )


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[World]:
    home = tmp_path / "navi home #1"
    home.mkdir()
    monkeypatch.setenv("NAVI_HOME", str(home))
    path = home / "navi.sqlite3"
    schema.prepare(sqlite_url(path))
    store = Store(sqlite_url(path))
    store.start()
    yield World(store, path)
    await store.close()


def only_file() -> FoundFile:
    [file] = Navi().discover()
    return file


async def test_a_session_is_read_while_its_server_runs(world: World) -> None:
    session = await world.session()
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
    assert file.path == f"{world.path}#{session.id}"
    rows = rows_of(Navi(), file.path)
    assert [(m.role, m.content, m.thinking) for m in rows.messages][:2] == [
        ("user", "build it", None),
        ("assistant", "I look.", "hm"),
    ]
    first, second = rows.tool_calls
    assert (first.message_idx, first.idx, first.tool_name) == (1, 0, "terminal")
    assert json.loads(first.tool_input or "") == {"command": "ls -l"}
    assert first.command == "ls -l"
    assert (second.message_idx, second.idx, second.command) == (1, 1, None)
    assert rows.spent == (10, 5, 100, 20)
    told = rows.session
    assert (told.source_session_id, told.title, told.model, told.cwd) == (
        session.id,
        "a name",
        "anthropic:x",
        "/home/ada/p",
    )
    assert told.started_at == session.created_at
    assert not told.is_subagent


async def test_what_was_added_since_a_mark_is_read_alone(world: World) -> None:
    session = await world.session()
    await world.turn(session, "one", TextDelta("first"))
    before = only_file()
    rows = rows_of(Navi(), before.path)
    begun = await world.begin(session, "two")
    half = rows_of(Navi(), before.path, rows.mark)
    assert [message.content for message in half.by_idx.values()] == ["two"]
    happened = [TextDelta("second")]
    await world.store.transact(
        turns.finish,
        begun.turn,
        0,
        happened,
        drafts_of(happened),
        Ending(Outcome.OK),
        Usage(1, 2, 3, 4),
        world.later(),
    )
    after = only_file()
    assert (after.mtime, after.size) > (before.mtime, before.size)
    last = rows_of(Navi(), after.path, half.mark)
    assert [message.content for message in last.by_idx.values()] == ["second"]
    assert [usage.output_tokens for usage in last.by_key.values()] == [2]
    whole = rows_of(Navi(), after.path)
    assert whole.by_idx == rows.by_idx | half.by_idx | last.by_idx
    assert whole.by_key == rows.by_key | half.by_key | last.by_key
    assert (whole.mark, whole.session) == (last.mark, last.session)


async def test_a_message_that_was_taken_back_means_reading_anew(world: World) -> None:
    session = await world.session()
    begun = await world.begin(session, "never begun")
    file = only_file()
    mark = rows_of(Navi(), file.path).mark
    running = await world.store.transact(lanes.running)
    [dead] = [turn for turn in running if turn.id == begun.turn.id]
    await world.store.transact(turns.close_dead, dead, world.later())
    with pytest.raises(Rewritten):
        Navi().read(file, mark)


async def test_only_a_person_s_words_are_the_user_s(world: World) -> None:
    session = await world.session()
    await world.turn(session, "wake up", TextDelta("ok"), origin=Origin.REMINDER)
    assert rows_of(Navi(), only_file().path).said[0] == ("system", "wake up")


async def test_a_child_has_its_parent(world: World) -> None:
    parent = await world.session()
    child = await world.session(parent_id=parent.id)
    await world.turn(child, "count", TextDelta("3"))
    session = rows_of(Navi(), only_file().path).session
    assert (session.parent_source_session_id, session.is_subagent) == (parent.id, True)


async def test_sessions_of_agents_with_files_of_their_own_are_left_to_them(world: World) -> None:
    await world.turn(await world.session(driver="claude_code"), "hello", TextDelta("hi"))
    await world.session()  # nothing was said in it
    assert list(Navi().discover()) == []


async def test_a_store_without_a_server_is_read_and_nothing_is_written(world: World) -> None:
    session = await world.session()
    await world.turn(session, "one", TextDelta("first"))
    await world.store.close()
    world.path.chmod(0o400)
    content = world.path.read_bytes()
    assert rows_of(Navi(), only_file().path).words("user") == ["one"]
    assert world.path.read_bytes() == content


def test_where_there_is_no_store_none_is_made(
    private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(Navi().discover()) == []
    monkeypatch.setenv("NAVI_DATABASE_URL", "postgresql://localhost/navi")
    assert list(Navi().discover()) == []
    assert list(private_home.iterdir()) == []


def test_a_file_that_is_no_store_is_told_when_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a #folder" / "navi.sqlite3"
    path.parent.mkdir()
    monkeypatch.setenv("NAVI_HOME", str(path.parent))
    for content in (b"", b"not a database at all" * 100):
        path.write_bytes(content)
        file = only_file()
        with pytest.raises(StoreUnusable, match="can't read Navi's sessions"):
            Navi().read(file)


async def test_a_session_deleted_meanwhile_is_a_missing_file(world: World) -> None:
    await world.turn(await world.session(), "one", TextDelta("first"))
    with pytest.raises(FileNotFoundError):
        Navi().read(FoundFile(f"{world.path}#gone", 0, 0))
