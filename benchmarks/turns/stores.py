"""A fresh home and database for each server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.postgres import PostgresServer
from tests.server import ServerProcess

ROOT = Path(__file__).parents[2]
METRONOME = (sys.executable, "-m", "benchmarks.turns.metronome")


class Stores:
    """One kind of store, in a directory of its own."""

    def __init__(self, kind: str, directory: Path, postgres: PostgresServer | None) -> None:
        self.kind = kind
        self.directory = directory
        self.postgres = postgres
        self._homes = 0

    def server(self) -> ServerProcess:
        """`navi serve` on a new home and an empty database."""
        return ServerProcess(self._new_home(), database_url=self._new_database())

    def metronome(self) -> ServerProcess:
        """The same, with the driver of metronome.py."""
        return ServerProcess(
            self._new_home(),
            database_url=self._new_database(),
            settings={"PYTHONPATH": str(ROOT)},
            command=METRONOME,
        )

    def _new_home(self) -> Path:
        self._homes += 1
        return self.directory / f"home-{self._homes}"

    def _new_database(self) -> str | None:
        return None if self.postgres is None else self.postgres.create_database()


@contextmanager
def stores(kind: str, directory: Path) -> Iterator[Stores]:
    directory.mkdir()
    if kind == "sqlite":
        yield Stores(kind, directory, None)
        return
    # With fsync, unlike in the tests, because the figures include writing to the disk.
    postgres = PostgresServer.start(directory, fsync=True)
    try:
        yield Stores(kind, directory, postgres)
    finally:
        postgres.stop()
