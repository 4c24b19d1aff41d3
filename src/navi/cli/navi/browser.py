"""Opens a login link in the person's browser."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path

PAGE_FILE = "open-page.html"
PAGE = """\
<!doctype html>
<title>Navi</title>
<meta http-equiv="refresh" content="0; url={link}">
"""


def can_open() -> bool:
    """Whether a person with a screen is at this terminal."""
    has_screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return sys.stdout.isatty() and bool(has_screen or sys.platform == "darwin")


def open_link(link: str, home: Path) -> None:
    """Open it through a private file: every user of the machine can read command lines."""
    webbrowser.open(forwarding_page(link, home).as_uri())


def forwarding_page(link: str, home: Path) -> Path:
    """Write a page that forwards to the link."""
    path = home / PAGE_FILE
    handle, draft = tempfile.mkstemp(prefix=".open-page-", dir=home)  # only its owner can read it
    with os.fdopen(handle, "w") as file:
        file.write(PAGE.format(link=escape(link)))
    os.replace(draft, path)
    return path
