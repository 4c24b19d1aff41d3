"""The other schedulers' Python environment, built from peers.txt and separate from Navi's own."""

from __future__ import annotations

from pathlib import Path

from benchmarks.locked_environment import locked_environment

ROOT = Path(__file__).parents[2]
LOCK = Path(__file__).with_name("peers.txt")
FOLDER = ROOT / "build" / "clock-peers"


def peers_python() -> Path:
    """The Python interpreter of the environment."""
    return locked_environment(FOLDER, LOCK) / "python"
