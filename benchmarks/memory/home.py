"""A home full of generated transcripts, the same for the same size and seed.

It is generated once and kept in `build/`, because generating takes longer than measuring.
"""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.common import say
from benchmarks.memory.claude_session import ClaudeSession
from benchmarks.memory.codex_session import CodexSession
from benchmarks.memory.session import Session
from benchmarks.memory.truth import Truth, read_truth

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "memory"
VERSION = 1
"""Increase it when the same seed gives other files."""
MEGABYTE = 1_000_000
FEWEST_FILES = 1_000
MIDDLE_BYTES = 500_000
"""The middle size of a file, if that gives enough files."""
LARGEST_SHARE = 0.05
"""The largest share of all bytes in one file."""
CODEX_SHARE, SUBAGENT_SHARE, TODAY_SHARE = 0.45, 0.05, 0.4
TORN_SHARE, HALF_SHARE = 0.02, 0.02


@dataclass(frozen=True, slots=True)
class Home:
    path: Path
    megabytes: int
    seed: int
    truth: Truth

    @property
    def files(self) -> list[Path]:
        return sorted([*self.claude.rglob("*.jsonl"), *self.codex.rglob("*.jsonl")])

    @property
    def claude(self) -> Path:
        return self.path / ".claude"

    @property
    def codex(self) -> Path:
        return self.path / ".codex"


def home(megabytes: int, seed: int) -> Home:
    folder = BUILD / f"home-{megabytes}mb-seed{seed}-v{VERSION}"
    truth = folder / "truth.json"
    if not truth.is_file():
        say(f"generating {megabytes} MB of transcripts in {folder} …")
        shutil.rmtree(folder, ignore_errors=True)
        _make(folder, megabytes, seed).write(truth)
    return Home(folder / "home", megabytes, seed, read_truth(truth))


def _make(folder: Path, megabytes: int, seed: int) -> Truth:
    truth = Truth()
    sizes = _sizes(megabytes * MEGABYTE, seed)
    make = partial(_make_file, folder / "home", seed)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for each in pool.map(make, range(len(sizes)), sizes, chunksize=8):
            truth.add(each)
    return truth


def _sizes(total: int, seed: int) -> list[int]:
    """Most sessions are short; most bytes are in long ones."""
    random = Random(f"{seed} sizes")
    count = max(FEWEST_FILES, total // MIDDLE_BYTES)
    shares = [random.lognormvariate(0, 1.2) for _ in range(count)]
    all_shares = sum(shares)
    return [int(total * min(share / all_shares, LARGEST_SHARE)) for share in shares]


def _make_file(home: Path, seed: int, number: int, size: int) -> Truth:
    random = Random(f"{seed} {number}")
    is_today = random.random() < TODAY_SHARE
    session: Session
    id = str(_uuid(random))
    if random.random() < CODEX_SHARE:
        session = codex = CodexSession(seed, random, id, is_today=is_today)
        path = home / ".codex" / "sessions" / codex.path
    else:
        session, path = _claude(home, seed, random, id, is_today)
    session.write(size)
    if random.random() < TORN_SHARE:
        session.tear()
        session.turn(session.prompt())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(session.file(is_half_at_end=random.random() < HALF_SHARE))
    ended_at = session.now.timestamp()
    os.utime(path, (ended_at, ended_at))
    return session.truth


def _claude(
    home: Path, seed: int, random: Random, id: str, is_today: bool
) -> tuple[ClaudeSession, Path]:
    projects = home / ".claude" / "projects"
    if random.random() >= SUBAGENT_SHARE:
        session = ClaudeSession(seed, random, id, is_today=is_today)
        return session, projects / session.folder / f"{id}.jsonl"
    name = f"agent-{random.getrandbits(64):016x}"
    session = ClaudeSession(seed, random, name, is_today=is_today, parent=id)
    return session, projects / session.folder / id / "subagents" / f"{name}.jsonl"


def _uuid(random: Random) -> str:
    digits = f"{random.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
