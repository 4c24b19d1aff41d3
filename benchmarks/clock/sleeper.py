"""A process that only sleeps. How late it wakes is the machine's own lateness.

`python -m benchmarks.clock.sleeper < INSTANTS` reads a JSON list of instants, in seconds since
1970. It prints a JSON list of how many milliseconds late it woke at each.
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
