"""Write values that no scripted turn can produce into the store of a real server."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, update

from navi.live.store.engine.transactions import Store
from tests.server import ServerProcess


async def plant(server: ServerProcess, table: Table, row_id: str, **values: Any) -> None:
    """Set columns of one row."""
    store = Store(server.database_url)
    store.start()
    await store.transact(_change, table, row_id, values)
    await store.close()


def _change(connection: Connection, table: Table, row_id: str, values: dict[str, Any]) -> None:
    changed = connection.execute(update(table).where(table.c.id == row_id).values(**values))
    assert changed.rowcount == 1
