"""Claude Code's folder, and where its transcripts are in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from navi.vendors.session_files import home_folder

VARIABLE = "CLAUDE_CONFIG_DIR"


@dataclass(frozen=True, slots=True)
class ClaudeCodeHome:
    folder: Path

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> ClaudeCodeHome:
        return cls(home_folder(environment, VARIABLE, ".claude"))

    @property
    def projects(self) -> Path:
        """One folder of transcripts for each folder it has worked in."""
        return self.folder / "projects"

    @property
    def settings(self) -> Path:
        """Holds hooks and permission rules."""
        return self.folder / "settings.json"

    @property
    def sessions(self) -> Path:
        """One file for each running process."""
        return self.folder / "sessions"

    def transcript(self, agent_session_id: str) -> Path | None:
        return next(self.projects.glob(f"*/{agent_session_id}.jsonl"), None)


def state_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Holds MCP servers. Next to Claude Code's folder; inside it if CLAUDE_CONFIG_DIR is set."""
    folder = ClaudeCodeHome.of(environment).folder
    return (folder if environment.get(VARIABLE) else folder.parent) / ".claude.json"
