"""Fixtures for every test."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, settings

from navi.base import file_modes
from navi.live.store.engine import schema
from navi.live.store.engine.dialects.sqlite import sqlite_url
from tests.postgres import PostgresServer

# A slow machine is not a failure.
settings.register_profile("navi", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("navi")

ROOM_IN_MEMORY = 4 * 1024**3
"""Far more than the databases of all test workers need."""

# Settings and secrets of the user, and of an agent that may be running the tests.
FOREIGN = ("NAVI_", "RECALL_", "CLAUDE", "CODEX", "ANTHROPIC_", "OPENAI_", "XDG_")


def pytest_configure() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A background run ignores Ctrl-C, and so would every process it starts.
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test its own home, so that none touches the user's files."""
    forget_user(monkeypatch)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    # Not created here: the code under test must create them with the right mode.
    monkeypatch.setenv("XDG_DATA_HOME", str(home / ".local" / "share"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("NAVI_HOME", str(home / "navi"))
    # Most tests need no real model; those of a machine without any remove this.
    monkeypatch.setenv("NAVI_MODEL", "scripted")
    return home


@pytest.fixture(autouse=True)
def restored_umask() -> Iterator[None]:
    """Restore the umask, which commands run in the test's own process change."""
    umask = os.umask(0o077)
    os.umask(umask)
    yield
    os.umask(umask)


def forget_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)


@pytest.fixture
def private_umask(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a person with umask 027 had started the command."""
    monkeypatch.setattr(file_modes, "_original_umask", None)
    os.umask(0o027)
    file_modes.make_files_private()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL for this test worker. Each test makes its own database in it."""
    directory = Path(tempfile.mkdtemp(prefix="navi-tests-", dir=folder_in_memory()))
    directory.chmod(0o711)  # the server runs as another user if the tests run as root
    try:
        # The machine does not crash in the middle of a test, so fsync would only cost time.
        server = PostgresServer.start(directory, fsync=False)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def folder_in_memory() -> Path | None:
    """Where a thousand databases are copied ten times as fast as on a disk; None without one."""
    folder = Path("/dev/shm")
    if not os.access(folder, os.W_OK) or shutil.disk_usage(folder).free < ROOM_IN_MEMORY:
        return None
    return folder


@pytest.fixture(scope="session")
def prepared_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite database with Navi's tables, which is faster to copy than to create."""
    file = tmp_path_factory.mktemp("prepared") / "navi.sqlite3"
    schema.prepare(sqlite_url(file))
    return file


@pytest.fixture(scope="session")
def prepared_name(postgres: PostgresServer) -> str:
    """The same in PostgreSQL: the name of the database."""
    url = postgres.create_database()
    schema.prepare(url)
    return urlsplit(url).path.removeprefix("/")


@pytest.fixture(params=["sqlite", "postgresql"])
def prepared_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Each kind of store in turn, with Navi's tables."""
    if request.param == "sqlite":
        file = tmp_path / "navi.sqlite3"
        shutil.copy(request.getfixturevalue("prepared_file"), file)
        yield sqlite_url(file)
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    url = postgres.create_database(like=request.getfixturevalue("prepared_name"))
    yield url
    postgres.drop_database(url)
