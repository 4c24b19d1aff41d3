"""The environment of the other schedulers: made once from peers.txt, apart from Navi's own."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = Path(__file__).with_name("peers.txt")
PLACE = ROOT / "build" / "clock-peers"


def peers_python() -> Path:
    """The interpreter of the environment, which is made anew when the lock has changed."""
    python = PLACE / "bin" / "python"
    stamp = PLACE / "lock-sha256"
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    print("installing the peers into build/clock-peers …", file=sys.stderr, flush=True)
    venv.create(PLACE, clear=True, with_pip=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--require-hashes", "-r", str(LOCK)], check=True)
    stamp.write_text(wanted)
    return python
