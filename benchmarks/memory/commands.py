"""`recall` as a command: a new process each time, as in a shell."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from benchmarks.memory.figures import Row
from benchmarks.memory.process import Command, run
from benchmarks.memory.stage import Stage

REPEATED = 9
SEARCH_MS, HELP_MS = 100, 100


def measure(stage: Stage) -> list[Row]:
    python = [sys.executable, "-I", "-c", "pass"]
    floor = median(_milliseconds(stage, python) for _ in range(REPEATED))
    recall = Path(sys.executable).with_name("recall")
    rows = []
    for what, words, most in (
        ("recall list, new process", ("list",), SEARCH_MS),
        ("recall search, one word, new process", ("search", "handler"), SEARCH_MS),
        ("recall search, three words, new process", ("search", "parser server cache"), SEARCH_MS),
        ("recall --help, new process", ("--help",), HELP_MS),
    ):
        _milliseconds(stage, [recall, *words])
        runs = [run([recall, *words], stage.environment) for _ in range(REPEATED)]
        taken = [each.seconds * 1000 for each in runs]
        processor = median(each.processor_seconds for each in runs) * 1000
        rows.append(
            Row(
                what,
                median(taken),
                "ms",
                "Python that does nothing",
                floor,
                f"< {most} ms",
                median(taken) < most,
                f"CPU {processor:.0f} ms, slowest of {REPEATED}: {max(taken):.0f} ms",
            )
        )
    return rows


def _milliseconds(stage: Stage, command: Command) -> float:
    return run(command, stage.environment).seconds * 1000
