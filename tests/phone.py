"""What is at the other end of a webhook or an ntfy topic."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Phone:
    """Takes messages while its `status` is 200, and keeps one of each key."""

    address: str
    status: int = 200
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Every body that was sent, with the headers of its request in `headers`."""
    answers: threading.Event = field(default_factory=threading.Event)
    """While it is not set, requests arrive and get no answer."""

    @property
    def taken(self) -> list[dict[str, Any]]:
        """The messages that were taken, each once, in the order of their arrival."""
        by_key: dict[str, dict[str, Any]] = {}
        for each in self.requests:
            if each["status"] == 200:
                by_key.setdefault(each["headers"]["idempotency-key"], each)
        return list(by_key.values())

    @property
    def titles(self) -> list[str]:
        return [each["title"] for each in self.taken]


@contextmanager
def ringing_phone() -> Iterator[Phone]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = phone.status
            phone.requests.append({**body, "path": self.path, "headers": headers, "status": status})
            phone.answers.wait()
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    phone = Phone(f"http://127.0.0.1:{server.server_port}")
    phone.answers.set()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield phone
    finally:
        phone.answers.set()
        server.shutdown()
        thread.join()
        server.server_close()
