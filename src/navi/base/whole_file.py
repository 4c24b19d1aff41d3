"""Replaces files in one step, so that a crash leaves either the old file or the new one."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Replace the file in one step. Only this user can read it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    write_through(temporary, data)
    os.replace(temporary, path)


def write_through(path: Path, data: bytes) -> None:
    """Write the file, and return once it would survive a power failure."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
