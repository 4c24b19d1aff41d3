"""Which dialect a URL or a connection speaks."""

from __future__ import annotations

import sqlalchemy

from navi.live.store.engine.dialects.dialect import Dialect
from navi.live.store.engine.dialects.postgresql import PostgreSQL
from navi.live.store.engine.dialects.sqlite import SQLite

_SQLITE, _POSTGRESQL = SQLite(), PostgreSQL()
_DIALECTS: dict[str, Dialect] = {each.kind: each for each in (_SQLITE, _POSTGRESQL)}


def dialect_for(url: str) -> Dialect:
    """Opening a URL of any other database explains what is wrong with it."""
    return _SQLITE if url.startswith("sqlite:") else _POSTGRESQL


def dialect_of(dialect: sqlalchemy.Dialect) -> Dialect:
    """Ours for SQLAlchemy's, which connections and types have."""
    return _DIALECTS[dialect.name]
