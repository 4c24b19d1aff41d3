"""Build the page in a temporary folder and compare it with the committed one.

`source.sha256` only shows that the source has not changed since the page was built. To find a page
that was edited by hand, build it again: the same source gives the same bytes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.page_fingerprint import FINGERPRINT, SOURCE

COMMITTED = FINGERPRINT.parent
OLDEST_NODE = (20, 19)


def node_version() -> tuple[int, int] | None:
    """None if Node or npm is missing."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    version = subprocess.run(
        ["node", "--version"], check=True, capture_output=True, text=True
    ).stdout
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


def differences(committed: Path = COMMITTED) -> list[str]:
    """Names of files that are missing, extra or different in a fresh build."""
    with TemporaryDirectory(prefix="navi-page-") as folder:
        source = Path(folder) / "webui"
        ignored = shutil.ignore_patterns("node_modules", "__pycache__")
        shutil.copytree(SOURCE, source, ignore=ignored)
        install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        for command in (install, ["npm", "run", "--silent", "build", "--", "--logLevel=error"]):
            subprocess.run(command, cwd=source, check=True)
        # The build writes beside its source: to ../src/navi/web.
        fresh = _contents(Path(folder) / COMMITTED.relative_to(SOURCE.parent))
    existing = _contents(committed)
    del existing[FINGERPRINT.name]
    return sorted(
        name for name in fresh.keys() | existing.keys() if fresh.get(name) != existing.get(name)
    )


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


if __name__ == "__main__":
    version = node_version()
    if version is None or version < OLDEST_NODE:
        sys.exit("building the page needs npm, and Node 20.19 or newer")
    if different := differences():
        names = "\n".join(f"  {name}" for name in different)
        sys.exit(f"these files differ from a fresh build of webui/; run `make web`:\n{names}")
