"""Which tools change files, and the paths of these files."""

from __future__ import annotations

import json
import os

CHANGING = ("edit", "write", "patch", "replace", "create", "delete", "rename")
"""A tool whose name has one of these words changes files."""


def changes_files(tool_name: str) -> bool:
    name = tool_name.lower()
    return any(word in name for word in CHANGING)


def decoded_path(text: str) -> str:
    """The path that a JSON string has between its quotes."""
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def path_below(path: str, *folders: str | None) -> str:
    """The path below the first of these folders that contains it, or else the path itself."""
    for folder in folders:
        if folder and path.startswith(f"{folder.rstrip('/')}/"):
            return path[len(folder.rstrip("/")) + 1 :]
    return os.path.normpath(path) if path.startswith("./") else path
