"""A real server whose clock a test can move, even while the server is down."""

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
from navi.base.system_clock import SystemClock
moved = Path(os.environ["NAVI_HOME"]) / "moved"
def now(self):
    by = moved.read_text() if moved.exists() else ""
    return datetime.now(UTC) + timedelta(seconds=float(by or 0))
SystemClock.now = now
main()
""",
]


def move_clock(server: ServerProcess, seconds: float) -> None:
    """Set how far the server's clock is ahead of real time."""
    (server.home / "navi" / "moved").write_text(str(seconds))
