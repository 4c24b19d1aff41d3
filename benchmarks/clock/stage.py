"""A fresh database for each contestant, and the process it runs in."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.clock.peers import ROOT, peers_python
from benchmarks.clock.plan import Plan
from tests.postgres import PostgresServer

SHARED_BUFFERS = "128MB"
"""PostgreSQL's own default; the tests take less."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A contestant on a store."""

    name: str
    module: str
    store: str
    is_peer: bool = True


ENTRIES = (
    Entry("Navi", "navi_recalls", "sqlite", is_peer=False),
    Entry("APScheduler", "apscheduler_jobs", "sqlite"),
    Entry("Navi", "navi_recalls", "postgresql", is_peer=False),
    Entry("PgQueuer", "pgqueuer_jobs", "postgresql"),
    Entry("APScheduler", "apscheduler_jobs", "postgresql"),
    Entry("Procrastinate", "procrastinate_jobs", "postgresql"),
)


def perform(entry: Entry, plan: Plan, directory: Path, under: str) -> dict[str, Any]:
    """Run the contestant through the course and return the measurements."""
    python = peers_python() if entry.is_peer else Path(sys.executable)
    with _database(entry.store, directory) as (url, pid):
        arguments = [entry.module, url, json.dumps(asdict(plan)), str(pid or "")]
        command = [*shlex.split(under), str(python), "-m", "benchmarks.clock.contestant"]
        return dict(json.loads(_output([*command, *arguments])))


@contextmanager
def _database(store: str, parent: Path) -> Iterator[tuple[str, int | None]]:
    """Its URL, and the server's process if there is one."""
    parent.mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="bench-", dir=parent))
    # PostgreSQL runs as another user if we are root.
    directory.chmod(0o755)
    try:
        if store == "sqlite":
            yield f"sqlite:///{directory / 'clock.sqlite3'}", None
            return
        postgres = PostgresServer.start(directory, fsync=True, shared_buffers=SHARED_BUFFERS)
        try:
            yield postgres.create_database(), postgres.pid
        finally:
            postgres.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _output(command: Sequence[str]) -> str:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        output, _ = process.communicate()
    except BaseException:
        # The command may be wrapped in others: all of them have to end.
        for each in psutil.Process(process.pid).children(recursive=True):
            each.kill()
        process.kill()
        process.communicate()
        raise
    if process.returncode:
        raise RuntimeError(f"it ended with {process.returncode}")
    return output
