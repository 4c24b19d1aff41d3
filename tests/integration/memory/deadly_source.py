"""A source whose reader dies on one file, as if it ran out of memory."""

from __future__ import annotations

import os
import signal

from navi.memory.model import SessionFile
from navi.vendors.claude_code.history import ClaudeCodeSource
from navi.vendors.source import Reading


class DeadlyClaudeCode(ClaudeCodeSource):
    def read(self, file: SessionFile, mark: bytes | None = None) -> Reading:
        if "deadly" in file.path:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().read(file, mark)
