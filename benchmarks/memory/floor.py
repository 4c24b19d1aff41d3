"""`python -m benchmarks.memory.floor FOLDER…`: only runs `json.loads` on every line.

Any reader of these files in plain Python takes at least this long.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    lines = bad = 0
    for folder in sys.argv[1:]:
        for path in Path(folder).rglob("*.jsonl"):
            with path.open("rb") as file:
                for line in file:
                    lines += 1
                    try:
                        json.loads(line)
                    except ValueError:
                        bad += 1
    print(json.dumps({"lines": lines, "bad": bad}))


if __name__ == "__main__":
    main()
