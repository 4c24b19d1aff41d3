"""Opens a database by its URL."""

from __future__ import annotations

from sqlalchemy import Engine

from navi.live.store.engine.dialects.registry import dialect_for


def open_engine(url: str) -> Engine:
    return dialect_for(url).open(url)


def open_for_reading(url: str) -> Engine:
    """Open read-only: each transaction sees one snapshot and never waits for writers."""
    return dialect_for(url).open_for_reading(url)


def public_address(url: str) -> str:
    """The store's address without user name and password."""
    return dialect_for(url).public_address(url)
