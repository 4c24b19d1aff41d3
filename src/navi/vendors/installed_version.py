"""Which version of an agent is installed, and which of Navi's hooks it knows."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

Version = tuple[int, int, int]

VERSION = re.compile(r"\b(\d+)\.(\d+)\.(\d+)\b")
LONGEST_SECONDS = 10.0


def known_events(
    events: Iterable[str], since: Mapping[str, Version], version: Version | None
) -> list[str]:
    """The events that this version knows; `since` has those that not every version does.

    If the version is unknown, those that all know.
    """
    return [
        each
        for each in events
        if each not in since or (version is not None and version >= since[each])
    ]


def installed_version(command: str, path: str | None = None) -> Version | None:
    """The version of the program; None if there is none, or it doesn't say."""
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
    """Running the program takes a moment, so do it once for each that was installed."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = VERSION.search(done.stdout)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def in_words(version: Version) -> str:
    return ".".join(map(str, version))
