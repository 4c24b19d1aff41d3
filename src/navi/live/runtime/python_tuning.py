"""Tunes Python's interpreter for short waits rather than throughput."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_SECONDS = 0.0005
GARBAGE_THRESHOLDS = (20_000, 50, 100)


def prefer_short_waits() -> None:
    # The store's threads and the event loop share one interpreter. At Python's default switch
    # interval of 5 ms, each commit would wait that long behind a busy agent.
    sys.setswitchinterval(SWITCH_SECONDS)
    # Turns create many short-lived objects, so Python's default thresholds collect too often.
    gc.set_threshold(*GARBAGE_THRESHOLDS)


@contextmanager
def loaded_objects_frozen() -> Iterator[None]:
    """Exclude the objects that exist now from garbage collection inside the `with` block.

    Enter it when everything is loaded: checking these objects would take 60 ms in each full
    collection and free nothing. They are freed at the end, or DuckDB would report them as leaked.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
