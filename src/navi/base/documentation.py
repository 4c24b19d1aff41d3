"""Where the documentation is: inside the installed package, or in the checkout."""

from __future__ import annotations

from pathlib import Path

import navi


def folder() -> Path:
    package = Path(navi.__file__).parent
    installed = package / "docs"
    return installed if installed.is_dir() else package.parents[1] / "docs"


def page(name: str) -> Path:
    """The file of a page, such as `how-to/service`, for hints."""
    return folder() / f"{name}.md"
