"""Codex's folder, and where its rollouts are in it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from navi.vendors.codex.vendor import Codex
from navi.vendors.session_files import home_folder

ROLLOUTS, ARCHIVE = "sessions", "archived_sessions"
"""Codex moves rollouts to the archive, a folder without subfolders, and back."""
_DATE = re.compile(r"rollout-(\d{4})-(\d\d)-(\d\d)T")


@dataclass(frozen=True, slots=True)
class CodexHome:
    folder: Path

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> CodexHome:
        return cls(home_folder(environment, Codex.home_variable, ".codex"))

    @property
    def rollouts(self) -> Path:
        return self.folder / ROLLOUTS

    @property
    def archive(self) -> Path:
        return self.folder / ARCHIVE

    @property
    def locks(self) -> Path:
        """One file for each thread, locked by the process that has the thread open."""
        return self.folder / "thread-writer-locks"

    def rollout(self, thread: str) -> Path | None:
        return next(self.rollouts.glob(f"*/*/*/rollout-*-{thread}.jsonl"), None)

    def has_server(self, name: str) -> bool:
        """Whether Codex's settings have an MCP server of this name."""
        import tomllib

        try:
            settings = tomllib.loads((self.folder / "config.toml").read_text())
        except (OSError, ValueError):
            return False
        servers = settings.get("mcp_servers")
        return isinstance(servers, dict) and name in servers


def path_before_archiving(folder: str, path: str) -> str:
    """The path that a rollout had before Codex archived it, by which the index identifies it."""
    name = os.path.basename(path)
    date = _DATE.match(name)
    return path if date is None else os.path.join(folder, ROLLOUTS, *date.groups(), name)


def path_in_archive(path: str) -> str:
    folder = home_of(path)
    return path if folder is None else os.path.join(folder, ARCHIVE, os.path.basename(path))


def home_of(rollout: str) -> str | None:
    """The home that contains a rollout; None for a path outside `sessions`."""
    folder, separator, _ = rollout.rpartition(f"{os.sep}{ROLLOUTS}{os.sep}")
    return folder if separator else None
