"""A process that only sleeps: how late it wakes at each instant is the machine's own lateness.

`python -m benchmarks.clock.sleeper < INSTANTS`, seconds since 1970 as a JSON list; prints how many
milliseconds late it was at each, as one.
"""

from __future__ import annotations

import json
import sys
import time


def main() -> None:
    late = []
    for instant in json.load(sys.stdin):
        while (left := instant - time.time()) > 0:
            time.sleep(left)
        late.append((time.time() - instant) * 1000)
    print(json.dumps(late))


if __name__ == "__main__":
    main()
