"""The store's interface to a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

import msgspec
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

from navi.base.errors import StoreUnusable

JSON_CODEC: dict[str, Any] = {
    "json_serializer": lambda value: msgspec.json.encode(value).decode(),
    "json_deserializer": msgspec.json.decode,
}
"""Engine options. Every event is encoded as JSON, and msgspec is ten times as fast as `json`."""

Signal = tuple[str, str]
"""Channel and payload."""
OnSignal = Callable[[str, str], None]


class Dialect(Protocol):
    kind: str
    """The database's name in SQLAlchemy and in `/health`."""
    title: str
    """The database's name as people write it."""
    workers: int
    """How many transactions run at the same time."""
    operations_per_commit: int
    """How many waiting operations may share a transaction."""
    supports_other_servers: bool
    """Whether several servers can share the database."""
    instant_type: TypeEngine[Any]

    def instant_parameter(self, value: datetime | None) -> Any:
        """An aware instant as a value of `instant_type`."""
        ...

    def open(self, url: str) -> Engine: ...

    def open_for_reading(self, url: str) -> Engine:
        """Open read-only: each transaction sees one snapshot and never waits for writers."""
        ...

    def public_address(self, url: str) -> str:
        """The store's address without user name and password."""
        ...

    def unusable(self, url: str, reason: str) -> StoreUnusable:
        """The error for a database that cannot be opened."""
        ...

    def lock_schema(self, connection: Connection) -> None:
        """Keep other processes from migrating until this transaction ends."""
        ...

    def brief_lock_wait(self, connection: Connection) -> AbstractContextManager[None]:
        """Make waiting for a locked row fail after a moment, within this context."""
        ...

    def change_count(self, connection: Connection) -> int:
        """How many rows this connection has changed; always 0 if `settle` never has work to do."""
        ...

    def settle(self, engine: Engine) -> None:
        """Do work in idle time that a commit would otherwise have to do."""
        ...

    def is_transient(self, error: DBAPIError) -> bool:
        """Whether trying again can help: the database is locked or unreachable."""
        ...

    def is_unavailable(self, error: DBAPIError) -> bool:
        """Whether the database is at fault, not the statement."""
        ...

    def notify(self, connection: Connection, sender: str, signals: Sequence[Signal]) -> None:
        """Send signals to the other servers when this transaction commits."""
        ...

    def wake_server(self, url: str) -> None:
        """Make the server check its store for changes by this process, if `notify` can't."""
        ...

    async def listen(
        self, url: str, channels: Sequence[str], own_id: str, on_signal: OnSignal
    ) -> None:
        """Call `on_signal` for each signal from other processes, until cancelled.

        When signals may have been missed, `on_signal` gets an empty payload once per channel.
        """
        ...
