"""Opening a database by its URL."""

from __future__ import annotations

from sqlalchemy import Engine

from navi.live.store.engine.dialects.registry import dialect_for


def open_engine(url: str) -> Engine:
    return dialect_for(url).open(url)


def open_for_reading(url: str) -> Engine:
    """Cannot write, never waits for a writer, and sees one moment in each transaction."""
    return dialect_for(url).open_for_reading(url)


def public_address(url: str) -> str:
    """Which store it is, without the name and password that open it."""
    return dialect_for(url).public_address(url)
