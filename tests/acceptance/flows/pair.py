"""Two servers on one PostgreSQL."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psycopg

from tests.acceptance.flows import ledger
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.ledger import Ledger
from tests.postgres import PostgresServer
from tests.server import NAVI, ServerProcess
from tests.waiting import eventually


@dataclass(frozen=True, slots=True)
class Pair:
    """Two servers and the database they share."""

    url: str
    servers: tuple[ServerProcess, ServerProcess]

    async def running_and_other(self, session_id: str) -> tuple[ServerProcess, ServerProcess]:
        """Once a turn of the session runs: the server that runs it, and the one that does not.

        Usually the server that admitted the input, but the other may have been faster.
        """

        async def owner() -> str | None:
            lanes = (await self.look()).lanes
            return next(lane.owner for lane in lanes if lane.session_id == session_id)

        name = await eventually(owner, what=f"a turn of {session_id} runs")
        first, second = self.servers
        return (first, second) if is_owner(first, name) else (second, first)

    async def look(self) -> Ledger:
        return await asyncio.to_thread(ledger.read, self.url)


async def start_pair(
    serve: Serve,
    postgres: PostgresServer,
    *,
    settings: Mapping[str, str] = {},
    command: Sequence[str] = NAVI,
) -> Pair:
    """Start both at once on an empty database, which must not make them collide."""
    url = postgres.create_database()
    start = [
        asyncio.to_thread(serve, url, settings=settings, command=command) for _ in ("one", "two")
    ]
    first, second = await asyncio.gather(*start)
    return Pair(url, (first, second))


async def freeze(server: ServerProcess, url: str) -> None:
    """Suspend the process, but not while it holds locks in PostgreSQL."""

    async def is_frozen_outside_transactions() -> bool:
        server.process.send_signal(signal.SIGSTOP)
        if await asyncio.to_thread(_open_transactions, url):
            server.process.send_signal(signal.SIGCONT)
            return False
        return True

    await eventually(is_frozen_outside_transactions, what="the server is between transactions")


def _open_transactions(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND application_name = 'navi' AND state <> 'idle'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def is_owner(server: ServerProcess, owner: str) -> bool:
    return owner.split("/")[1] == str(server.process.pid)
