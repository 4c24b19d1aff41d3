"""A store of each kind, empty, on its own database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from navi.live.store.engine.dialects.sqlite import sqlite_url
from tests.store_world import World, store_world


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "navi.sqlite3")
    return str(request.getfixturevalue("postgres").create_database())


@pytest.fixture
async def world(prepared_url: str) -> AsyncIterator[World]:
    async with store_world(prepared_url) as world:
        yield world
