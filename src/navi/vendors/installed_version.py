"""An agent's installed version, and the hook events that it supports."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

Version = tuple[int, int, int]

VERSION = re.compile(r"\b(\d+)\.(\d+)\.(\d+)\b")
TIMEOUT_SECONDS = 10.0


def known_events(
    events: Iterable[str], since: Mapping[str, Version], version: Version | None
) -> list[str]:
    """The events that this version supports; if it is None, those that every version does.

    `since` maps each newer event to the first version that supports it.
    """
    return [
        each
        for each in events
        if each not in since or (version is not None and version >= since[each])
    ]


def installed_version(command: str, path: str | None = None) -> Version | None:
    """The version of the program; None if it is not installed or prints no version."""
    program = shutil.which(command, path=path)
    if program is None:
        return None
    try:
        file = Path(program).resolve()
        return _version(str(file), file.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=8)
def _version(program: str, _changed_at: int) -> Version | None:
    """Cached, because running the program takes a moment."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = VERSION.search(done.stdout)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def version_text(version: Version) -> str:
    return ".".join(map(str, version))
