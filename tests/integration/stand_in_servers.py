"""Servers that are not Navi, or not this version of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Stranger(BaseHTTPRequestHandler):
    """Some other program's server."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
        self.wfile.write(b"<html>")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def sending(answer: bytes, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """A server that sends this to its first client and hangs up."""
    with socket.create_server((host, port)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://{host}:{listening.getsockname()[1]}"
        thread.join()


def answering(body: bytes, *, headers: bytes = b"") -> AbstractContextManager[str]:
    """A server that answers its first request with this."""
    return sending(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + body)
