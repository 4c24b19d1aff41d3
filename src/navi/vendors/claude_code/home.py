"""Claude Code's folder, and where its transcripts are in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from navi.vendors.session_files import home_folder


@dataclass(frozen=True, slots=True)
class ClaudeCodeHome:
    folder: Path

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> ClaudeCodeHome:
        return cls(home_folder(environment, "CLAUDE_CONFIG_DIR", ".claude"))

    @property
    def projects(self) -> Path:
        """One folder for each folder that it worked in, with that folder's transcripts."""
        return self.folder / "projects"

    @property
    def settings(self) -> Path:
        return self.folder / "settings.json"

    @property
    def sessions(self) -> Path:
        """One file for each running process."""
        return self.folder / "sessions"

    def transcript(self, agent_session_id: str) -> Path | None:
        return next(self.projects.glob(f"*/{agent_session_id}.jsonl"), None)
