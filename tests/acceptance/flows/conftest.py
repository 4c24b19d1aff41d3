"""Fixtures for stories across real processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from tests.server import NAVI, ServerProcess

Serve = Callable[..., ServerProcess]


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str | None:
    """Each kind of store in turn; None means the SQLite file in the server's home."""
    if request.param == "sqlite":
        return None
    url: str = request.getfixturevalue("postgres").create_database()
    return url


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts servers, each with its own home; any still alive at the end are killed."""
    with ExitStack() as stack:
        numbers = count(1)

        def start(
            database_url: str | None = None,
            *,
            settings: Mapping[str, str] = {},
            command: Sequence[str] = NAVI,
        ) -> ServerProcess:
            home = tmp_path / f"server-{next(numbers)}"
            server = ServerProcess(
                home, database_url=database_url, settings=settings, command=command
            )
            return stack.enter_context(server)

        yield start
