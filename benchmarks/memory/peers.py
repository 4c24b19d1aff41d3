"""The environment of the peers: made once, apart from Navi's own.

Python's are locked in peers.txt. Of ccusage the version is fixed here: a lock of npm's would name
the registry it came from.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.memory.home import BUILD

LOCK = Path(__file__).with_name("peers.txt")
PLACE = BUILD / "peers"
CCUSAGE = "ccusage@20.0.24"


def peers() -> Path:
    """The folder with the peers' commands, made anew when the lock has changed."""
    commands = PLACE / "bin"
    stamp = PLACE / "lock-sha256"
    wanted = hashlib.sha256(LOCK.read_bytes() + CCUSAGE.encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return commands
    print("installing the peers into build/memory/peers …", file=sys.stderr, flush=True)
    venv.create(PLACE, clear=True, with_pip=True)
    pip = [str(commands / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--require-hashes", "-r", str(LOCK)], check=True)
    _install_ccusage()
    stamp.write_text(wanted)
    return commands


def ccusage() -> Path | None:
    """Its own program, without the script in JavaScript that only starts it. None without npm."""
    found = sorted((PLACE / "node_modules" / "@ccusage").glob("ccusage-*/bin/ccusage"))
    return found[0] if found else None


def _install_ccusage() -> None:
    npm = shutil.which("npm")
    if npm is None:
        print("there is no npm here: ccusage is left out", file=sys.stderr, flush=True)
        return
    command = [npm, "install", "--silent", "--no-package-lock", "--prefix", str(PLACE), CCUSAGE]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    if program := ccusage():
        program.chmod(0o755)  # its script in JavaScript would do it on the first call
