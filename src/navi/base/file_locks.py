"""Locks on files (flock). The kernel releases them when their process ends, even if killed."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def lock_file(path: Path) -> int:
    """Lock the file, creating it if necessary. Closing the returned descriptor unlocks it.

    Raises BlockingIOError if the lock is held, another OSError if the file can't be opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock; False if the file is missing or can't be opened."""
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
