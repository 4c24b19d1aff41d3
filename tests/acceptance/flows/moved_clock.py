"""A real server with a clock that a test can move on, also while the server is down."""

from __future__ import annotations

import sys

from tests.server import ServerProcess

WITH_MOVED_CLOCK = [
    sys.executable,
    "-c",
    """
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from navi.cli.navi.main import main
from navi.runtime.system_clock import SystemClock
moved = Path(os.environ["NAVI_HOME"]) / "moved"
def now(self):
    by = moved.read_text() if moved.exists() else ""
    return datetime.now(UTC) + timedelta(seconds=float(by or 0))
SystemClock.now = now
main()
""",
]


def move_clock(server: ServerProcess, seconds: float) -> None:
    """From now on the server's time is this much later than the real one."""
    (server.home / "navi" / "moved").write_text(str(seconds))
