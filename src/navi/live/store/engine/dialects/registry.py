"""Finds the dialect of a URL or a connection."""

from __future__ import annotations

import sqlalchemy

from navi.live.store.engine.dialects.dialect import Dialect
from navi.live.store.engine.dialects.postgresql import PostgreSQL
from navi.live.store.engine.dialects.sqlite import SQLite

_SQLITE, _POSTGRESQL = SQLite(), PostgreSQL()
_DIALECTS: dict[str, Dialect] = {dialect.kind: dialect for dialect in (_SQLITE, _POSTGRESQL)}


def dialect_for(url: str) -> Dialect:
    """The dialect of a URL. A wrong URL gets PostgreSQL, which reports what is wrong with it."""
    return _SQLITE if url.startswith("sqlite:") else _POSTGRESQL


def dialect_of(dialect: sqlalchemy.Dialect) -> Dialect:
    """Our dialect for SQLAlchemy's."""
    return _DIALECTS[dialect.name]
