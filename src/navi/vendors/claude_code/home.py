"""Claude Code's folder, and where its transcripts are in it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from navi.vendors.claude_code.vendor import ClaudeCode
from navi.vendors.session_files import home_folder

DEFAULT_CLEANUP_DAYS = 30
"""After how many days without a change Claude Code deletes a transcript."""
LONGEST_CLEANUP_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class ClaudeCodeHome:
    folder: Path

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> ClaudeCodeHome:
        return cls(home_folder(environment, ClaudeCode.home_variable, ".claude"))

    @property
    def projects(self) -> Path:
        """The folder with transcripts: one subfolder for each folder that Claude Code worked in."""
        return self.folder / "projects"

    @property
    def settings(self) -> Path:
        """The file with hooks and permission rules."""
        return self.folder / "settings.json"

    @property
    def sessions(self) -> Path:
        """The folder with one file for each running process of Claude Code."""
        return self.folder / "sessions"

    def transcript(self, agent_session_id: str) -> Path | None:
        return next(self.projects.glob(f"*/{agent_session_id}.jsonl"), None)


def state_file(environment: Mapping[str, str] = os.environ) -> Path:
    """The file with MCP servers.

    It is next to Claude Code's folder, or inside it if CLAUDE_CONFIG_DIR is set.
    """
    folder = ClaudeCodeHome.of(environment).folder
    return (folder if environment.get(ClaudeCode.home_variable) else folder.parent) / ".claude.json"


def cleanup_period_days(environment: Mapping[str, str] = os.environ) -> int:
    """`cleanupPeriodDays` in the person's settings. An organization's settings are not read."""
    try:
        settings = json.loads(ClaudeCodeHome.of(environment).settings.read_bytes())
    except (OSError, ValueError):
        return DEFAULT_CLEANUP_DAYS
    days = settings.get("cleanupPeriodDays") if isinstance(settings, dict) else None
    if not isinstance(days, int) or days <= 0:
        return DEFAULT_CLEANUP_DAYS
    return min(days, LONGEST_CLEANUP_DAYS)
