"""What the store expects of a database, checked on both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Column, Connection, Engine, MetaData, Table, insert, select, text
from sqlalchemy.exc import DBAPIError, ProgrammingError

from navi.base.errors import StoreUnusable
from navi.live.store.engine import schema, tables
from navi.live.store.engine.dialects.dialect import Dialect
from navi.live.store.engine.dialects.registry import dialect_for, dialect_of
from tests.store_world import NOON

PATIENCE_SECONDS = 20.0


@pytest.fixture
def dialect(database_url: str) -> Dialect:
    return dialect_for(database_url)


@pytest.fixture
def engine(dialect: Dialect, database_url: str) -> Iterator[Engine]:
    schema.prepare(database_url)
    engine = dialect.open(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def instants(engine: Engine) -> Table:
    table = Table("instants", MetaData(), Column("at", tables.Instant))
    table.create(engine)
    return table


def test_a_url_and_its_connections_have_the_same_dialect(dialect: Dialect, engine: Engine) -> None:
    assert dialect_of(engine.dialect) is dialect


def test_instants_come_back_in_utc_and_in_order(engine: Engine, instants: Table) -> None:
    tokyo, new_york = timezone(timedelta(hours=9)), timezone(timedelta(hours=-5))
    early = datetime(2026, 1, 1, 8, 0, 0, 1, tzinfo=tokyo)
    late = datetime(2026, 1, 1, 8, tzinfo=new_york)
    with engine.begin() as connection:
        connection.execute(insert(instants), [{"at": late}, {"at": None}, {"at": early}])
        query = select(instants.c.at).where(instants.c.at >= early).order_by(instants.c.at)
        stored = list(connection.scalars(query))
    assert stored == [early, late]
    assert {each.tzinfo for each in stored} == {UTC}


def test_a_reader_sees_one_moment_and_cannot_write(
    dialect: Dialect, database_url: str, engine: Engine, instants: Table
) -> None:
    reader = dialect.open_for_reading(database_url)
    with reader.connect() as reading, reading.begin():
        assert _count(reading, instants) == 0
        with engine.begin() as connection:
            connection.execute(insert(instants).values(at=NOON))
        assert _count(reading, instants) == 0
    with reader.connect() as reading, pytest.raises(DBAPIError):
        reading.execute(insert(instants).values(at=NOON))
    reader.dispose()


def test_the_public_address_opens_nothing(dialect: Dialect, database_url: str) -> None:
    address = dialect.public_address(database_url)
    assert address
    assert "@" not in address


def test_a_database_that_cannot_be_opened_is_explained(dialect: Dialect, database_url: str) -> None:
    error = dialect.unusable(database_url, "it is on fire")
    assert isinstance(error, StoreUnusable)
    assert error.message.endswith(": it is on fire")
    assert error.hint


def test_a_wrong_statement_is_not_tried_again(dialect: Dialect, engine: Engine) -> None:
    with engine.connect() as connection, pytest.raises(DBAPIError) as raised:
        connection.execute(text("SELECT 1 FROM nothing_of_this_name"))
    assert not dialect.is_transient(raised.value)
    assert dialect.is_unavailable(ProgrammingError("", None, Exception("a typo"))) is False


def test_the_schema_can_be_locked_and_a_row_locked_briefly(
    dialect: Dialect, engine: Engine
) -> None:
    with engine.begin() as connection:
        dialect.lock_schema(connection)
        with dialect.brief_lock_wait(connection):
            assert connection.execute(text("SELECT 1")).scalar() == 1
        assert connection.execute(text("SELECT 1")).scalar() == 1


def test_settling_changes_nothing_that_can_be_read(
    dialect: Dialect, engine: Engine, instants: Table
) -> None:
    with engine.begin() as connection:
        before = dialect.change_count(connection)
        connection.execute(insert(instants).values(at=NOON))
        assert dialect.change_count(connection) >= before
    dialect.settle(engine)
    with engine.begin() as connection:
        assert _count(connection, instants) == 1


async def test_a_listener_hears_that_another_process_wrote(
    dialect: Dialect, database_url: str, engine: Engine
) -> None:
    heard = asyncio.Event()

    def write() -> None:
        with engine.begin() as connection:
            dialect.notify(connection, "another", [("navi_work", "")])
        dialect.wake_server(database_url)

    listening = asyncio.create_task(
        dialect.listen(database_url, ["navi_work"], "me", lambda _channel, _payload: heard.set())
    )
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not heard.is_set():  # repeated in case it was not listening yet
                await asyncio.to_thread(write)
                with suppress(TimeoutError):
                    await asyncio.wait_for(heard.wait(), 0.1)
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


def _count(connection: Connection, table: Table) -> int:
    return len(connection.execute(select(table)).all())
