"""Creates a database, or migrates it to the current version."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from navi.base.errors import StoreUnusable
from navi.live.store.engine.dialects.registry import dialect_for

HEAD = "0021"
"""The newest migration, named here so that Alembic is imported only to migrate."""


def prepare(url: str) -> None:
    """Create or migrate the database; refuse one that a newer Navi wrote."""
    dialect = dialect_for(url)
    engine = dialect.open(url)
    try:
        with engine.connect() as connection, connection.begin():
            # Two servers that start together must not both migrate.
            dialect.lock_schema(connection)
            if version(connection) != HEAD:
                _upgrade(connection)
    except DBAPIError as error:
        reason = (str(error.orig).strip().splitlines() or ["no answer"])[0]
        raise dialect.unusable(url, reason) from error
    finally:
        engine.dispose()


def version(connection: Connection) -> str | None:
    """The database's version; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "navi:live/store/engine/migrations")
    config.attributes["connection"] = connection
    current = version(connection)
    revisions = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if current is not None and current not in revisions:
        raise StoreUnusable(
            f"this database was written by a newer Navi: its schema is {current}, and this Navi "
            f"supports {HEAD} at most",
            hint="upgrade Navi, or use another store: set NAVI_HOME or NAVI_DATABASE_URL",
        )
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise StoreUnusable(f"the database can't be migrated: {error}") from error
