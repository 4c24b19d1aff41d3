from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, select, text

from navi.base.errors import StoreUnusable
from navi.live.store.engine import schema
from navi.live.store.engine.connection import open_engine
from navi.live.store.engine.dialects import postgresql
from navi.live.store.engine.tables import metadata, sessions
from tests.postgres import PostgresServer


def migrate_to(connection: Connection, version: str) -> None:
    """Make an empty database one of an earlier version."""
    config = Config()
    config.set_main_option("script_location", "navi:live/store/engine/migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, version)


def test_a_migrated_database_has_exactly_the_tables_the_code_expects(database_url: str) -> None:
    schema.prepare(database_url)

    engine = open_engine(database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_the_known_head_is_the_newest_migration() -> None:
    scripts = ScriptDirectory("src/navi/live/store/engine/migrations")
    assert scripts.get_current_head() == schema.HEAD


def test_preparing_twice_changes_nothing(database_url: str) -> None:
    schema.prepare(database_url)
    schema.prepare(database_url)


def test_a_server_waits_while_another_one_prepares_the_database(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "LOCK_MILLISECONDS", 10)
    url = postgres.create_database()
    engine = open_engine(url)
    with ThreadPoolExecutor() as threads, engine.connect() as first, engine.connect() as observer:
        with first.begin():
            postgresql.PostgreSQL().lock_schema(first)
            second = threads.submit(schema.prepare, url)
            # Far beyond the lock timeout of ordinary transactions.
            waits = text(
                "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
                " WHERE datname = current_database() AND NOT granted"
                " AND clock_timestamp() - waitstart > interval '100 milliseconds'"
            )
            while not second.done() and not observer.execute(waits).scalar():
                time.sleep(0.01)
        second.result()
        assert schema.version(observer) == schema.HEAD
    engine.dispose()


def test_a_database_from_a_newer_version_is_refused_and_left_alone(database_url: str) -> None:
    schema.prepare(database_url)
    engine = open_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    with pytest.raises(StoreUnusable, match=r"newer Navi.*9999") as refusal:
        schema.prepare(database_url)

    assert "upgrade" in refusal.value.hint
    with engine.connect() as connection:
        assert schema.version(connection) == "9999"
    engine.dispose()


def test_what_ran_in_a_pane_was_kept_as_the_model_before(database_url: str) -> None:
    engine = open_engine(database_url)
    rows = {"pane": ("tmux", "codex"), "usual": ("tmux", None), "own": ("builtin", "openai:m")}
    with engine.begin() as connection:
        migrate_to(connection, "0010")
        for session_id, (driver, model) in rows.items():
            connection.execute(
                text(
                    "INSERT INTO sessions (id, name, driver, model, cwd, user_id, state,"
                    " context_from_idx, created_at, updated_at) VALUES (:id, :id, :driver,"
                    " :model, '/', 'local', 'idle', 0, '2026-11-18', '2026-11-18')"
                ),
                {"id": session_id, "driver": driver, "model": model},
            )

    schema.prepare(database_url)

    with engine.connect() as connection:
        migrated = connection.execute(text("SELECT id, program, model FROM sessions")).all()
    engine.dispose()
    assert {row.id: (row.program, row.model) for row in migrated} == {
        "pane": ("codex", None),
        "usual": (None, None),
        "own": (None, "openai:m"),
    }


def test_sessions_from_before_know_how_their_last_turn_ended_and_are_all_read(
    database_url: str,
) -> None:
    engine = open_engine(database_url)
    session = (
        "INSERT INTO sessions (id, name, driver, cwd, user_id, state, context_from_idx, created_at,"
        " updated_at) VALUES (:id, :id, 'builtin', '/', 'local', 'idle', 0, '2026-11-18',"
        " '2026-11-18')"
    )
    turn = (
        "INSERT INTO turns (id, session_id, fence, origin, event_count, outcome, input_tokens,"
        " output_tokens, cache_read_tokens, cache_creation_tokens, started_at, ended_at) VALUES"
        " (:id, 'busy', 1, 'user', 0, :outcome, 0, 0, 0, 0, :at, :ended_at)"
    )
    with engine.begin() as connection:
        migrate_to(connection, "0011")
        for session_id in ("busy", "new"):
            connection.execute(text(session), {"id": session_id})
        for number, outcome in enumerate(["ok", "error", None], start=1):
            at = f"2026-11-18 1{number}:00:00+00:00"
            values = {"id": f"turn-{number}", "outcome": outcome, "at": at}
            connection.execute(text(turn), {**values, "ended_at": outcome and at})

    schema.prepare(database_url)

    with engine.connect() as connection:
        migrated = {row.id: row for row in connection.execute(select(sessions))}
    engine.dispose()
    assert (migrated["busy"].last_outcome, migrated["new"].last_outcome) == ("error", None)
    marks = ("unread", "pinned", "archived", "notify_person")
    assert not any(getattr(row, mark) for row in migrated.values() for mark in marks)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_usual_spelling_of_a_postgresql_address_is_understood(postgres, scheme: str) -> None:
    url = postgres.create_database().replace("postgresql:", f"{scheme}:")
    schema.prepare(url)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite:////nowhere/at/all/navi.sqlite3", "can't open the database"),
        ("postgresql://nobody@127.0.0.1:1/none", "can't open the PostgreSQL database"),
        ("mysql://root@127.0.0.1/navi", "SQLite or PostgreSQL"),
        ("not a url", "not a database address"),
    ],
)
def test_a_database_that_cannot_be_opened_is_reported_in_one_line(url: str, words: str) -> None:
    with pytest.raises(StoreUnusable, match=words) as refusal:
        schema.prepare(url)
    assert refusal.value.hint
    assert "\n" not in refusal.value.message
