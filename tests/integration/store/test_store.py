from __future__ import annotations

from pathlib import Path

import pytest

from navi.live.store import events
from navi.live.store.engine.transactions import CHANGES_TO_SETTLE
from tests.store_world import World
from tests.waiting import eventually


async def test_what_sqlite_wrote_ahead_is_moved_into_the_database_when_nothing_is_to_do(
    world: World, tmp_path: Path
) -> None:
    if world.store.dialect.kind != "sqlite":
        pytest.skip("PostgreSQL does this by itself")
    session = await world.session()
    database = tmp_path / "navi.sqlite3"
    before = database.stat().st_size

    def writes_much(connection, session_id):
        items = [("stream_delta", {"delta": "x" * 1000})] * CHANGES_TO_SETTLE
        events.emit(connection, session_id, None, items, world.now)

    await world.store.transact(writes_much, session.id)

    async def has_grown() -> bool:
        return database.stat().st_size > before + CHANGES_TO_SETTLE * 1000

    await eventually(has_grown, what="the database file, not only its log, should have grown")
    assert (await world.admit(session)).position == 0
