"""The address of the server that uses this NAVI_HOME, in a file that commands and hooks read.

The server locks the file for as long as it runs. An unlocked file was left behind by a server that
was killed, and is ignored. `navi/hook.py` reads the file in the same way.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path

from navi.base.errors import StoreUnusable
from navi.base.paths import address_file


def served_address(environment: Mapping[str, str] = os.environ) -> str | None:
    """The server's address; None if there is no server, or if it is still starting."""
    return _read(address_file(environment)) or None


class AddressFile:
    """The address file, locked by this server."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def claim(cls, environment: Mapping[str, str] = os.environ) -> AddressFile | None:
        """Lock the file; None if another server with this NAVI_HOME holds the lock."""
        path = address_file(environment)
        try:
            descriptor = _lock(path)
        except OSError as error:
            raise StoreUnusable(
                f"can't lock {path}: {error.strerror}",
                hint="make it writable, or set NAVI_HOME to a folder on a local disk",
            ) from error
        return None if descriptor is None else cls(path, descriptor)

    def write(self, address: str) -> None:
        os.pwrite(self._descriptor, f"{address}\n".encode(), 0)

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def _lock(path: Path) -> int | None:
    """Lock and empty the file and return its descriptor; None if a server holds the lock."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            if _read(path) is not None:
                return None
            continue  # a command had locked it to read it
        if _is_file(path, descriptor):
            os.ftruncate(descriptor, 0)
            return descriptor
        os.close(descriptor)  # another server has just ended and removed the file


def _read(path: Path) -> str | None:
    """The text of the file if a server holds it, else None.

    Takes a shared lock, so that two commands reading it at the same time don't mistake each other
    for a server.
    """
    try:
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read().strip()
    except (OSError, UnicodeDecodeError):
        pass
    return None


def _is_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
