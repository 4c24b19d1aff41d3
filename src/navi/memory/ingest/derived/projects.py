"""Which project a folder belongs to: the root of its git repository."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=4096)
def repository_of(folder: str) -> str | None:
    """None if the folder is outside every repository, or gone."""
    path = Path(folder)
    if not path.is_absolute():
        return None
    try:
        for parent in (path, *path.parents):
            if (parent / ".git").exists():
                return str(parent)
    except (OSError, ValueError):  # a folder we may not read, or not a path
        pass
    return None
