"""A server that records what the hook script sends."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import navi

HOOK = Path(navi.__file__).parent / "hook.py"


REPORT = {"session_id": "a", "hook_event_name": "PostToolUse", "tool_use_id": "t"}


ANSWER = b'{"hookSpecificOutput": {}}'


@contextmanager
def server(answer: bytes | None) -> Iterator[tuple[str, list[bytes]]]:
    """Yield its address and the requests it gets. Without an answer it never responds."""
    received: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))
    is_over = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            received.append(connection.recv(65536))
            if answer is None:
                is_over.wait()
            else:
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", received
    finally:
        is_over.set()
        listener.close()
        thread.join(10)


@contextmanager
def scripted_server(*answers: bytes | None) -> Iterator[tuple[str, list[bytes]]]:
    """Answers one request after the other; None hangs up in the middle of one."""
    received: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for answer in answers:
            connection, _ = listener.accept()
            with connection:
                received.append(connection.recv(65536))
                connection.sendall(answer or b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", received
    finally:
        listener.close()
        thread.join(10)
