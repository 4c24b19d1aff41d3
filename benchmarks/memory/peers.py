"""The environment of the peers: made once, apart from Navi's own.

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
PLACE = BUILD / "peers"
CCUSAGE = "ccusage@20.0.24"
CCUSAGE_PLACE = BUILD / CCUSAGE


def peers() -> Path:
    """The folder with the peers' commands."""
    if ccusage() is None:
        _install_ccusage()
    return locked_environment(PLACE, LOCK)


def ccusage() -> Path | None:
    """The native program without its JavaScript launcher. None without npm."""
    binaries = sorted((CCUSAGE_PLACE / "node_modules" / "@ccusage").glob("ccusage-*/bin/ccusage"))
    return binaries[0] if binaries else None


def _install_ccusage() -> None:
    npm = shutil.which("npm")
    if npm is None:
        print("there is no npm here: ccusage is left out", file=sys.stderr, flush=True)
        return
    CCUSAGE_PLACE.mkdir(parents=True, exist_ok=True)
    place = ["--prefix", str(CCUSAGE_PLACE)]
    command = [npm, "install", "--silent", "--no-package-lock", *place, CCUSAGE]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    if program := ccusage():
        program.chmod(0o755)  # its JavaScript launcher would do it on the first call
