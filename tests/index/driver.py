"""A run of the index in a process of its own, with small batches so that much can go wrong.

`python -m tests.index.driver [--full] [--recreate]`, in the home that the environment names.
"""

from __future__ import annotations

import sys

from navi.index import crew, refresh
from navi.index.agents import agents
from navi.index.places import places
from navi.index.settings import searchable_fields
from tests.index.world import FixedClock


def main() -> None:
    # Every station is passed many times, so that a kill finds each of them.
    refresh.BATCH_BYTES = 30_000
    refresh.COMMIT_AFTER_SECONDS = (0.05, 0.05, 0.05)
    crew.WORTH_PROCESSES_BYTES = 0
    run = refresh.Refresh(
        places(),
        agents(),
        searchable_fields(),
        FixedClock(),
        workers=2,
        is_full="--full" in sys.argv,
    )
    run.run(recreate="--recreate" in sys.argv)


if __name__ == "__main__":
    main()
