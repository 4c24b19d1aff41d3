"""Requests that end before they are complete."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

from tests.server import ServerProcess

PATHS = ("/login", "/logout", "/hooks/claude_code", "/mcp", "/sessions")


def test_clients_that_leave_in_the_middle_of_their_request_leave_no_traceback(
    tmp_path: Path,
) -> None:
    with ServerProcess(tmp_path / "own", settings={"NAVI_MODEL": "scripted"}) as server:
        address = urlsplit(server.address)
        for path in PATHS:
            head = (
                f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 100\r\n"
                f"Authorization: Bearer {server.token}\r\nExpect: 100-continue\r\n\r\n"
            )
            with socket.create_connection(("127.0.0.1", address.port or 0)) as client:
                client.sendall(head.encode())
                # Sent once the body is being read.
                assert client.recv(1000).startswith(b"HTTP/1.1 100 ")
                client.sendall(b'{"te')
        server.stop()
        assert "Traceback" not in server.log()
