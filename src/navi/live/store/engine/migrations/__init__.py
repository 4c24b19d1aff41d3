"""Alembic's migrations. Add new ones; never change an existing one."""
