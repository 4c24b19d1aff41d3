"""The peers' Python environment, built once and separate from Navi's own.

Python packages are locked in peers.txt. The version of ccusage is fixed here, because an npm lock
file would name the registry it came from.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.locked_environment import locked_environment
from benchmarks.memory.home import BUILD

LOCK = Path(__file__).with_name("peers.txt")
FOLDER = BUILD / "peers"
CCUSAGE = "ccusage@20.0.24"
CCUSAGE_FOLDER = BUILD / CCUSAGE


def peers() -> Path:
    """The folder with the peers' commands."""
    if ccusage() is None:
        _install_ccusage()
    return locked_environment(FOLDER, LOCK)


def ccusage() -> Path | None:
    """The native program without its JavaScript launcher. None without npm."""
    binaries = sorted((CCUSAGE_FOLDER / "node_modules" / "@ccusage").glob("ccusage-*/bin/ccusage"))
    return binaries[0] if binaries else None


def _install_ccusage() -> None:
    npm = shutil.which("npm")
    if npm is None:
        print("npm is not installed: ccusage is left out", file=sys.stderr, flush=True)
        return
    CCUSAGE_FOLDER.mkdir(parents=True, exist_ok=True)
    prefix = ["--prefix", str(CCUSAGE_FOLDER)]
    command = [npm, "install", "--silent", "--no-package-lock", *prefix, CCUSAGE]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    if program := ccusage():
        program.chmod(0o755)  # its JavaScript launcher would do it on the first call
