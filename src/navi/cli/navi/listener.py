"""The socket on which the server listens."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

from navi.base.errors import UsageError
from navi.cli import output

PORTS_TO_TRY = 100
PORT_FILE = "port"
"""In the home folder: the port used last time instead of the usual one."""


def listen(host: str, port: int) -> socket.socket:
    """Listen on exactly this port; 0 picks a free one."""
    try:
        return _bind(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            hint = f"another Navi may be running there; try `navi serve --port {port + 1}`"
        else:
            hint = "use an address of this machine, such as 127.0.0.1, and a port above 1023"
        raise UsageError(
            f"can't listen on {host}:{port}: {(error.strerror or str(error)).lower()}", hint=hint
        ) from error


def listen_near(host: str, port: int, home: Path) -> socket.socket:
    """Listen on this port or, if another program uses it, on the next free one.

    The next start tries that port first, because open pages and running agents still use it.
    """
    last_port = _last_port(home)
    ports = range(port, port + PORTS_TO_TRY)
    for candidate in ports if last_port is None else (last_port, *ports):
        try:
            listener = _bind(host, candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                break
        else:
            if candidate not in (port, last_port):
                output.note(f"port {port} is used by another program; using {candidate} instead")
                (home / PORT_FILE).write_text(f"{candidate}\n")
            return listener
    return listen(host, port)


def _last_port(home: Path) -> int | None:
    try:
        text = (home / PORT_FILE).read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.isdecimal() and 0 < int(text) < 65_536 else None


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener
