"""Write a hash of the page's source beside the built page.

It lets a test check, without Node, that `src/navi/web` was built from the current source.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "webui"
FINGERPRINT = ROOT / "src" / "navi" / "web" / "source.sha256"
SOURCE_SUFFIXES = {
    ".css", ".html", ".js", ".json", ".png", ".svelte", ".svg", ".ts", ".webmanifest",
}  # fmt: skip


def fingerprint() -> str:
    """The hash of everything the build reads."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*")):
        name = path.relative_to(SOURCE)
        if path.suffix in SOURCE_SUFFIXES and path.is_file() and name.parts[0] != "node_modules":
            digest.update(
                f"{name.as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
            )
    return digest.hexdigest()


if __name__ == "__main__":
    FINGERPRINT.write_text(fingerprint() + "\n")
