"""A Python environment with exactly the packages of a lock file, rebuilt when the file changes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path


def locked_environment(folder: Path, lock: Path) -> Path:
    """Build the environment if necessary, and return the folder with its commands."""
    commands = folder / "bin"
    stamp = folder / "installed"
    expected = f"{hashlib.sha256(lock.read_bytes()).hexdigest()} {sys.version}"
    if stamp.is_file() and stamp.read_text() == expected:
        return commands
    print(f"installing the peers into {folder} …", file=sys.stderr, flush=True)
    venv.create(folder, clear=True, with_pip=True)
    pip = [str(commands / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    # Without --no-deps, pip resolves extras such as psycopg[pool] again and picks their newest
    # release, which has no hash in the lock file.
    subprocess.run([*pip, "install", "--no-deps", "--require-hashes", "-r", str(lock)], check=True)
    subprocess.run([*pip, "check"], check=True)
    stamp.write_text(expected)
    return commands
