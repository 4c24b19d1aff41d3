"""Which project a folder belongs to: the root of its git repository."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=4096)
def repository_of(folder: str) -> str | None:
    """None for a folder outside every repository, or one that is gone."""
    path = Path(folder)
    if not path.is_absolute():
        return None
    try:
        for each in (path, *path.parents):
            if (each / ".git").exists():
                return str(each)
    except (OSError, ValueError):  # not ours to look into, or no path at all
        pass
    return None
