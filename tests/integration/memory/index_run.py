"""A run of the index in a process of its own, with small batches so that much can go wrong.

`python -m tests.integration.memory.index_run [--full] [--recreate] [--die-at=STATION:N]`, in the
home that the environment names. It dies as by kill -9 when it reaches a station
for the n-th time.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from navi.memory.index_paths import index_paths
from navi.memory.index_settings import searchable_fields
from navi.memory.ingest import pipeline, reading_process, refresh
from navi.memory.ingest.write import duckdb_writer, tantivy_writer
from navi.vendors.registry import sources
from tests.memory_world import FixedClock


def main() -> None:
    # Small, so that every station is passed many times.
    pipeline.BATCH_BYTES = 30_000
    pipeline.COMMIT_AFTER_SECONDS = (0.05, 0.05, 0.05)
    reading_process.WORTH_A_PROCESS_BYTES = 0
    for argument in sys.argv:
        if argument.startswith("--die-at="):
            station, _, count = argument.removeprefix("--die-at=").partition(":")
            die_at(station, int(count))
    run = refresh.Refresh(
        index_paths(),
        sources(),
        searchable_fields(),
        FixedClock(),
        in_parallel=True,
        is_full="--full" in sys.argv,
    )
    run.run(recreate="--recreate" in sys.argv)


def die_at(station: str, count: int) -> None:
    left = [count]

    def dying(step: Callable[..., Any], *, before: bool) -> Callable[..., Any]:
        def stepped(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if before and left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            result = step(*arguments, **named)
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return stepped

    if station == "rows-written":  # but not committed
        duckdb_writer.Batch.write = dying(duckdb_writer.Batch.write, before=False)  # type: ignore[method-assign]
    elif station == "rows-committed":  # and no text written
        tantivy_writer.TextWriter.add_card = dying(  # type: ignore[method-assign]
            tantivy_writer.TextWriter.add_card, before=True
        )
    elif station == "texts-written":  # but not committed
        tantivy_writer.TextWriter.commit = dying(  # type: ignore[method-assign]
            tantivy_writer.TextWriter.commit, before=True
        )
    elif station == "texts-committed":  # but not noted
        tantivy_writer.TextWriter.commit = dying(  # type: ignore[method-assign]
            tantivy_writer.TextWriter.commit, before=False
        )
    else:
        raise ValueError(station)


if __name__ == "__main__":
    main()
