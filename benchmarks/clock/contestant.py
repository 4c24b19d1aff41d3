"""The process of one contestant: `python -m benchmarks.clock.contestant NAME URL PLAN PID`.

Writes the result as one line of JSON to its standard output.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys

from benchmarks.clock.course import Contestant, Course
from benchmarks.clock.plan import Plan


def main() -> None:
    name, url, plan, pid = sys.argv[1:]
    module = importlib.import_module(f"benchmarks.clock.contestants.{name}")
    contestant: Contestant = module.contestant(url)
    course = Course(contestant, Plan(**json.loads(plan)), int(pid) if pid else None)
    try:
        import uvloop

        uvloop.run(course.run())
    except ImportError:
        asyncio.run(course.run())


if __name__ == "__main__":
    main()
