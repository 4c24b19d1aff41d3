"""Start an index run in its own process."""

from __future__ import annotations

import subprocess
import sys

from tests.paths import ROOT


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.integration.memory.index_run", *arguments],
        cwd=ROOT,
        start_new_session=True,
        stderr=subprocess.PIPE,
    )
