"""Other programs with some of `recall`'s features, on the same files in the same run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.memory.figures import Row
from benchmarks.memory.peers import FOLDER, ccusage, peers
from benchmarks.memory.process import Command, RunResult, run
from benchmarks.memory.stage import Stage
from benchmarks.memory.truth import Tokens

REPEATED = 9
WORDS = "parser server cache"


def measure(stage: Stage) -> list[Row]:
    commands = peers()
    return [
        *_token_totals(stage),
        *_sessions(stage, commands / "fr"),
        *_document(stage, commands / "claude-code-log"),
    ]


def _token_totals(stage: Stage) -> list[Row]:
    program = ccusage()
    if program is None:
        return []
    mine = _median_run(lambda: stage.recall("stats", "--json"))
    beside: Command = [program, "daily", "--json", "--offline"]
    theirs = _median_run(lambda: run(beside, stage.environment), times=2)
    truth = Tokens()
    truth.add(stage.home.truth.claude)
    truth.add(stage.home.truth.codex)
    ours, totals = json.loads(mine.output), json.loads(theirs.output)["totals"]
    error = _error(
        truth,
        Tokens(
            totals["inputTokens"],
            totals["outputTokens"],
            totals["cacheReadTokens"],
            totals["cacheCreationTokens"],
        ),
    )
    our_error = _error(
        truth,
        Tokens(
            ours["input_tokens"],
            ours["output_tokens"],
            ours["cache_read_tokens"],
            ours["cache_creation_tokens"],
        ),
    )
    note = f"error: recall {our_error:.2%}, ccusage {error:.2%} (worst of four sums)"
    return [
        _compared(
            "token totals, with an existing index", mine.seconds, "ccusage", theirs.seconds, note
        ),
        _compared(
            "token totals: CPU",
            mine.processor_seconds,
            "ccusage",
            theirs.processor_seconds,
            has_goal=False,
        ),
    ]


def _sessions(stage: Stage, program: Path) -> list[Row]:
    """fast-resume has an index, too. By default it first looks for new sessions."""
    cache = FOLDER / "fast-resume"
    shutil.rmtree(cache, ignore_errors=True)
    environment = {**stage.environment, "XDG_CACHE_HOME": str(cache), "XDG_DATA_HOME": str(cache)}

    def theirs(*words: str, is_watched: bool = False) -> RunResult:
        return run([program, *words], environment, is_watched=is_watched)

    made = theirs("--rebuild", "--json", "--limit", "1", is_watched=True)
    stage.forget()
    mine = stage.recall("index", is_watched=True)
    rows = [
        _compared(
            "full index",
            mine.seconds,
            "fast-resume",
            made.seconds,
            _cost_note(made),
            has_goal=False,
        )
    ]
    for what, ours, words in (
        ("list of 20 sessions", ("list", "--json", "--limit", "20"), ()),
        ("search, three words", ("search", "--json", WORDS), (WORDS,)),
    ):
        answered = _median_run(partial(stage.recall, *ours))
        for name, option in (("fast-resume", ()), ("fast-resume --no-refresh", ("--no-refresh",))):
            beside = _median_run(partial(theirs, "--json", "--limit", "20", *option, *words))
            spent = f"CPU {answered.processor_seconds:.3f} s, its {beside.processor_seconds:.3f} s"
            rows.append(_compared(what, answered.seconds, name, beside.seconds, spent))
    return rows


def _document(stage: Stage, program: Path) -> list[Row]:
    """One session as HTML, the only feature that claude-code-log and `recall` share."""
    listed: list[dict[str, Any]] = json.loads(
        stage.recall("list", "--json", "--source", "claude-code", "--limit", "100").output
    )
    session = sorted(listed, key=lambda each: int(each["message_count"]))[len(listed) // 2]
    page = str(stage.data / "page.html")
    mine = _median_run(
        lambda: stage.recall("export", session["id"], "--format", "html", "--output", page),
        times=3,
    )
    command = [program, "convert", session["source_path"], "--no-cache", "-o", page]
    theirs = _median_run(lambda: run(command, stage.environment), times=2)
    what = f"a session of {session['message_count']} messages as HTML"
    return [_compared(what, mine.seconds, "claude-code-log", theirs.seconds)]


def _median_run(once: Callable[[], RunResult], times: int = REPEATED) -> RunResult:
    """The median run."""
    once()
    runs: list[RunResult] = sorted((once() for _ in range(times)), key=lambda each: each.seconds)
    return runs[len(runs) // 2]


def _compared(
    what: str, mine: float, name: str, theirs: float, note: str = "", *, has_goal: bool = True
) -> Row:
    return Row(
        what,
        mine,
        "s",
        name,
        theirs,
        "faster" if has_goal else "",
        mine < theirs if has_goal else None,
        note,
    )


def _cost_note(made: RunResult) -> str:
    return f"its CPU {made.processor_seconds:.1f} s, memory {made.peak_mb:.0f} MB"


def _error(truth: Tokens, measured: Tokens) -> float:
    pairs: list[tuple[int, int]] = list(zip(astuple(measured), astuple(truth), strict=True))
    return max(abs(number - wanted) / max(1, wanted) for number, wanted in pairs)
