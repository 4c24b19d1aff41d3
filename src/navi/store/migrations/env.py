"""Run by Alembic: migrates the connection that `schema.prepare` hands over."""

from alembic import context

from navi.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
