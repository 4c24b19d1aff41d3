"""A real `navi serve` in its own process, and a small client for it."""

from __future__ import annotations

import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2
from websockets.asyncio.client import connect

READY = "Navi is ready: "
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""No test speaks TLS, and loading the machine's certificates takes longer than most requests."""
NAVI = (sys.executable, "-m", "navi.cli.navi.main")


class ServerProcess:
    """Started on construction; `address` is set once it is ready."""

    def __init__(
        self,
        home: Path,
        *,
        database_url: str | None = None,
        settings: Mapping[str, str] = {},
        command: Sequence[str] = NAVI,
        arguments: Sequence[str] = ("--port", "0"),
    ) -> None:
        self.home = home
        self.database_url = database_url or f"sqlite:///{home / 'navi' / 'navi.sqlite3'}"
        self._command = [*command, "serve", "--no-open", *arguments]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("NAVI_")
        }
        environment |= {
            "HOME": str(home),
            "NAVI_HOME": str(home / "navi"),
            "NAVI_MODEL": "scripted",
            # Off by default: few tests need this extra process beside the server.
            "NAVI_INDEX_FOLLOW": "false",
            **settings,
        }
        if database_url is not None:
            environment["NAVI_DATABASE_URL"] = database_url
        self.environment = environment
        self.start()

    def start(self) -> None:
        """Start, or start again on the same home after `kill` or `stop`."""
        self.launch()
        self.wait_until_ready()

    def launch(self) -> None:
        """Start the process without waiting until it is ready."""
        self.home.mkdir(parents=True, exist_ok=True)
        with (self.home / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command,
                env=self.environment,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith(READY):
            self.kill()
            raise AssertionError(f"the server did not start:\n{self.log()}")
        self.address = line.removeprefix(READY).strip()
        file = Path(self.environment["NAVI_HOME"]) / "token"
        self.token = self.environment.get("NAVI_TOKEN") or file.read_text().strip()

    def kill(self) -> None:
        """Like a crash: the process gets no chance to do anything."""
        self.process.kill()
        self._reap()

    def stop(self) -> int:
        """Like Ctrl-C."""
        return self.end(signal.SIGINT)

    def end(self, number: signal.Signals) -> int:
        """Signal only the server itself, as systemd does with KillMode=process."""
        self.process.send_signal(number)
        return self._reap()

    def client(self, *, timeout: float = 30.0) -> Client:
        return Client(self.address, self.token, timeout)

    def stranger(self, headers: Mapping[str, str] = {}) -> httpx2.AsyncClient:
        """Somebody without a token, such as a browser before its login."""
        return httpx2.AsyncClient(
            base_url=self.address,
            headers=dict(headers),
            timeout=30,
            trust_env=False,
            verify=NO_CERTIFICATES,
        )

    def log(self) -> str:
        return (self.home / "server.log").read_text()

    def _reap(self) -> int:
        code = self.process.wait(timeout=30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.kill()


class Client:
    """The calls that tests make, over real HTTP and WebSocket."""

    def __init__(self, address: str, token: str, timeout: float) -> None:
        self.address = address
        self.headers = {"Authorization": f"Bearer {token}"}
        self.http = httpx2.AsyncClient(
            base_url=address,
            headers=self.headers,
            timeout=timeout,
            trust_env=False,
            verify=NO_CERTIFICATES,
        )

    async def call(self, method: str, path: str, body: Any = None, *, expect: int = 200) -> Any:
        response = await self.http.request(method, path, json=body)
        assert response.status_code == expect, f"{response.status_code}: {response.text}"
        return response.json()

    async def session(self, **fields: Any) -> str:
        created = await self.call("POST", "/sessions", {"driver": "scripted", **fields}, expect=201)
        return str(created["id"])

    async def say(self, session_id: str, text: str, **fields: Any) -> dict[str, Any]:
        sent = {"text": text, **fields}
        path = f"/sessions/{session_id}/input"
        return dict(await self.call("POST", path, sent, expect=202))

    async def messages(self, session_id: str) -> list[dict[str, Any]]:
        return list(await self.call("GET", f"/sessions/{session_id}/messages"))

    def watch(self, session_id: str | None = None, after: int | None = None) -> connect:
        """A WebSocket on one session, or on everything."""
        path = "/ws" if session_id is None else f"/ws/sessions/{session_id}"
        query = "" if after is None else f"?after={after}"
        return connect(
            self.address.replace("http://", "ws://") + path + query,
            additional_headers=self.headers,
            max_size=None,
            # Unlimited queue: a client with a full one could not even close the connection.
            max_queue=None,
            proxy=None,
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *details: object) -> None:
        await self.http.aclose()


def navi(server: ServerProcess, *arguments: str) -> str:
    """Run a `navi` command on the server's own store, and return what it printed."""
    done = subprocess.run(
        [*NAVI, *arguments],
        env={**server.environment, "NAVI_URL": server.address},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
