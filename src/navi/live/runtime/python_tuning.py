"""How a process that serves uses Python's interpreter: for short waits, not for throughput."""

from __future__ import annotations

import gc
import sys

SWITCH_SECONDS = 0.0005
GARBAGE_THRESHOLDS = (20_000, 50, 100)


def prefer_short_waits() -> None:
    # The store's threads and the event loop share one interpreter: hand it over more readily than
    # every 5 ms, or each commit waits that long behind a busy agent.
    sys.setswitchinterval(SWITCH_SECONDS)
    # Every turn makes many short-lived objects; Python's default looks for garbage far too often.
    gc.set_threshold(*GARBAGE_THRESHOLDS)


def keep_what_is_loaded() -> None:
    """Called when all is loaded: it stays, so looking through it for garbage is 60 ms of waiting
    for nothing, each time."""
    gc.collect()
    gc.freeze()
