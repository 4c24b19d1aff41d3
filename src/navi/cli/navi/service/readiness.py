"""Checks whether the server answers, and waits until it does."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from navi.base.errors import NaviError
from navi.cli.navi.service.service_manager import ServiceManager
from navi.client import Client, Server, find_server

TIMEOUT_SECONDS = 60.0
POLL_SECONDS = 0.1
LOG_HINT = "`navi service logs` shows its output"


@dataclass(frozen=True, slots=True)
class AnsweringServer:
    address: str
    version: str


def answering_server() -> AnsweringServer | None:
    """The server of this home, if it answers."""
    # NAVI_URL may name another machine's server.
    environment = {name: value for name, value in os.environ.items() if name != "NAVI_URL"}
    try:
        address = find_server(environment).address
        # Without the token: any program may be listening there.
        health = Client(Server(address, None, "")).health()
    except NaviError:
        return None
    return AnsweringServer(address, str(health.get("version", "unknown")))


def wait_until_ready(manager: ServiceManager) -> AnsweringServer:
    """Wait for the server that the service has just started. Raises if it ends instead."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while (server := answering_server()) is None:
        state = manager.state()
        if not state.is_running and not state.is_starting:
            raise NaviError(f"the server is not running: {state.summary}", hint=LOG_HINT)
        if time.monotonic() > deadline:
            raise NaviError(
                f"the server did not answer within {TIMEOUT_SECONDS:.0f} seconds", hint=LOG_HINT
            )
        time.sleep(POLL_SECONDS)
    return server
