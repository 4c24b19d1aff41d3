"""The command that runs a module with this process's Python."""

from __future__ import annotations

import sys


def python_module(name: str, *arguments: str) -> list[str]:
    """Runs the module `name`. -P: don't import from the current folder, which may be untrusted."""
    return [sys.executable, "-P", "-m", name, *arguments]
