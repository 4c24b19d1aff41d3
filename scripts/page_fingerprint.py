"""A hash of the page's source, kept beside what was built from it.

It lets a test without Node check that `src/navi/web` was built from the current source.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "webui"
KEPT = ROOT / "src" / "navi" / "web" / "source.sha256"
BUILT_FROM = {".css", ".html", ".js", ".json", ".svelte", ".svg", ".ts"}


def fingerprint() -> str:
    """The hash of everything the build reads."""
    total = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*")):
        name = path.relative_to(SOURCE)
        if path.suffix in BUILT_FROM and path.is_file() and name.parts[0] != "node_modules":
            total.update(
                f"{name.as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
            )
    return total.hexdigest()


if __name__ == "__main__":
    KEPT.write_text(fingerprint() + "\n")
