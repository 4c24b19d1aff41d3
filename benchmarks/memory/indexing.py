"""Building the index; refreshing it without changes, and after one session has grown."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median

from benchmarks.memory.claude_session import ClaudeSession
from benchmarks.memory.figures import Row
from benchmarks.memory.home import ROOT, Home
from benchmarks.memory.process import Command, RunResult, run
from benchmarks.memory.stage import Stage
from benchmarks.memory.truth import Tokens

MOST_TIMES = 3.0
MOST_PEAK_MB = 600
FEWEST_CORES = 1.5
NOTHING_SECONDS, GROWN_SECONDS = 0.3, 0.4
GROWN_MESSAGES = 200
REPEATED = 7
COUNT_OPENED = """
import sys
opened = set()
sys.addaudithook(lambda event, given: event == "open" and opened.add(str(given[0])))
from navi.cli.recall.main import main
home, sys.argv = sys.argv[1], ["recall", "index", "--json"]
try:
    main()
finally:
    print(sum(path.startswith(home) and path.endswith(".jsonl") for path in opened))
"""
STAT_ALL = """
import os, sys
for top in sys.argv[1:]:
    for folder, _, names in os.walk(top):
        for name in names:
            os.stat(os.path.join(folder, name))
"""


def measure_full(stage: Stage) -> list[Row]:
    """The lower bound is measured before and after each run, because the machine's load varies."""
    floors, runs = [_floor(stage)], []
    for _ in range(stage.rounds):
        stage.forget()
        runs.append(stage.recall("index", "--json", is_watched=True))
        floors.append(_floor(stage))
    processor = median(each.processor_seconds for each in runs)
    floor = median(each.processor_seconds for each in floors)
    wall, peak = median(each.seconds for each in runs), max(each.peak_mb for each in runs)
    truth = stage.home.truth
    size = f"{truth.bytes / 1e6:,.0f} MB, {truth.messages:,} messages"
    return [
        Row(
            f"full index with full-text, {size}: CPU",
            processor,
            "s",
            "json.loads of every line",
            floor,
            f"≤ {MOST_TIMES:.0f} ×",
            processor <= MOST_TIMES * floor,
            f"{truth.passages:,} passages in {truth.files:,} files",
        ),
        Row(
            "full index: elapsed time",
            wall,
            "s",
            "json.loads, one core",
            median(each.seconds for each in floors),
            "both cores used",
            processor / wall >= FEWEST_CORES,
            f"{processor / wall:.2f} cores, {truth.bytes / 1e6 / wall:.0f} MB/s",
        ),
        Row(
            "full index: memory of all its processes, at most",
            peak,
            "MB",
            goal=f"< {MOST_PEAK_MB} MB at 2 GB",
            is_met=peak < MOST_PEAK_MB,
        ),
        *_exactness(stage),
    ]


def measure_nothing(stage: Stage) -> list[Row]:
    stage.recall("index")
    taken = median(stage.recall("index").seconds for _ in range(REPEATED))
    command: Command = [sys.executable, "-c", STAT_ALL, stage.home.claude, stage.home.codex]
    floor = median(run(command, stage.environment).seconds for _ in range(REPEATED))
    counted = run([sys.executable, "-c", COUNT_OPENED, stage.home.path], stage.environment)
    opened = int(counted.output.split()[-1])
    return [
        Row(
            f"nothing changed, {stage.home.truth.files:,} files",
            taken * 1000,
            "ms",
            "Python, os.stat of each",
            floor * 1000,
            f"< {NOTHING_SECONDS * 1000:.0f} ms, none opened",
            taken < NOTHING_SECONDS and opened == 0,
            f"{opened} files opened",
        )
    ]


def measure_grown(stage: Stage, small: Stage) -> list[Row]:
    """Compares with a small index, to show whether the cost grows with the index."""
    runs, others = _grow(stage), _grow(small)
    taken, beside = [each.seconds for each in runs], [each.seconds for each in others]
    processor = median(each.processor_seconds for each in runs)
    many, few = stage.home.truth.messages, small.home.truth.messages
    return [
        Row(
            f"a session grew by {GROWN_MESSAGES} messages, index of {many:,}: until searchable",
            median(taken) * 1000,
            "ms",
            f"index of {few:,}",
            median(beside) * 1000,
            f"< {GROWN_SECONDS * 1000:.0f} ms",
            median(taken) < GROWN_SECONDS,
            f"CPU {processor * 1000:.0f} ms, slowest of {len(taken)}: {max(taken) * 1000:.0f} ms",
        )
    ]


def _floor(stage: Stage) -> RunResult:
    command: Command = [
        sys.executable,
        "-m",
        "benchmarks.memory.floor",
        stage.home.claude,
        stage.home.codex,
    ]
    return run(command, stage.environment, folder=ROOT)


def _exactness(stage: Stage) -> list[Row]:
    truth = stage.home.truth
    counts = json.loads(stage.recall("stats", "--json").output)
    tokens = Tokens()
    tokens.add(truth.claude)
    tokens.add(truth.codex)
    expected = {
        "messages": truth.messages,
        "tool_calls": truth.tool_calls,
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_tokens": tokens.cache_read,
        "cache_creation_tokens": tokens.cache_creation,
    }
    wrong = [name for name, number in expected.items() if counts[name] != number]
    return [
        Row(
            "differences in messages, tool calls and tokens",
            len(wrong),
            "",
            goal="0",
            is_met=not wrong,
            note=", ".join(f"{name} {counts[name]:,}, not {expected[name]:,}" for name in wrong),
        )
    ]


def _grow(stage: Stage) -> list[RunResult]:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.read.search import Search

    stage.recall("index")
    runs: list[RunResult] = []
    with _restored(_middle_file(stage.home)) as path:
        for number in range(REPEATED):
            word = f"grown{os.getpid()}x{number}"
            _append(path, word, number)
            runs.append(stage.recall("index"))
            if not Search(IndexPaths(stage.database)).find(word).hits:
                raise RuntimeError(f"{word} was appended to {path} and is not found")
    stage.recall("index")
    return runs


def _middle_file(home: Home) -> Path:
    files = [path for path in home.files if path.is_relative_to(home.claude)]
    files = [path for path in files if not path.name.startswith("agent-")]
    return sorted(files, key=lambda path: path.stat().st_size)[len(files) // 2]


@contextmanager
def _restored(path: Path) -> Iterator[Path]:
    """The file, which is restored afterwards, because later runs use the home again."""
    before = path.stat()
    try:
        yield path
    finally:
        os.truncate(path, before.st_size)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _append(path: Path, word: str, number: int) -> None:
    session = ClaudeSession(1, Random(f"{word} {number}"), path.stem, is_today=True)
    while session.truth.messages < GROWN_MESSAGES:
        session.turn(f"{session.prompt()} {word}")
    data = b"\n".join(session.lines) + b"\n"
    with path.open("ab") as file:
        # A line break turns a partial last line into a damaged line.
        file.write(data if path.stat().st_size == 0 or _ends_whole(path) else b"\n" + data)


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
