"""An environment with exactly the packages of a lock file, rebuilt when that changes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path


def locked_environment(place: Path, lock: Path) -> Path:
    """The folder with its commands."""
    commands = place / "bin"
    stamp = place / "installed"
    wanted = f"{hashlib.sha256(lock.read_bytes()).hexdigest()} {sys.version}"
    if stamp.is_file() and stamp.read_text() == wanted:
        return commands
    print(f"installing the peers into {place} …", file=sys.stderr, flush=True)
    venv.create(place, clear=True, with_pip=True)
    pip = [str(commands / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    # Without --no-deps, pip resolves extras such as psycopg[pool] anew and wants their newest
    # release, which has no hash in the lock.
    subprocess.run([*pip, "install", "--no-deps", "--require-hashes", "-r", str(lock)], check=True)
    subprocess.run([*pip, "check"], check=True)
    stamp.write_text(wanted)
    return commands
