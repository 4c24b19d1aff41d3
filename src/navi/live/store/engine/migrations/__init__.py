"""Alembic's place. Migrations are only added, never changed."""
