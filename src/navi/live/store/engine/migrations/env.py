"""Run by Alembic: migrates the database behind the connection that `schema.prepare` passes in."""

from alembic import context

from navi.live.store.engine.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
