"""Which project a folder belongs to: the root of its git repository."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=4096)
def repository_of(folder: str) -> str | None:
    """The root of the folder's repository; None if none is found, as for a relative path."""
    path = Path(folder)
    if not path.is_absolute():
        return None
    try:
        for parent in (path, *path.parents):
            # In a worktree it is a file. Codex's sandbox leaves empty `.git` folders behind.
            git = parent / ".git"
            if git.is_file() or (git / "HEAD").exists():
                return str(parent)
    except (OSError, ValueError):  # a folder we may not read, or not a path
        pass
    return None
