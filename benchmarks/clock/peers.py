"""The environment of the other schedulers: made once from peers.txt, apart from Navi's own."""

from __future__ import annotations

from pathlib import Path

from benchmarks.locked_environment import locked_environment

ROOT = Path(__file__).parents[2]
LOCK = Path(__file__).with_name("peers.txt")
PLACE = ROOT / "build" / "clock-peers"


def peers_python() -> Path:
    """The interpreter of that environment."""
    return locked_environment(PLACE, LOCK) / "python"
