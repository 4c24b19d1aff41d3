"""Locks on files (flock). The kernel releases them when their holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def lock_file(path: Path) -> int:
    """Create and lock the file; closing the returned descriptor unlocks it.

    Raises OSError if another process holds the lock.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock; False if there is no such file."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
