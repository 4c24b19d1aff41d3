"""Opening a login link in the person's browser."""

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


def is_at_hand() -> bool:
    """Whether a person with a screen is at this terminal."""
    has_screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return sys.stdout.isatty() and bool(has_screen or sys.platform == "darwin")


def open_link(link: str, home: Path) -> None:
    """Through a private file: every user of the machine can read a browser's command line."""
    webbrowser.open(forwarding_page(link, home).as_uri())


def forwarding_page(link: str, home: Path) -> Path:
    path = home / PAGE_FILE
    handle, new = tempfile.mkstemp(prefix=".open-page-", dir=home)  # for the owner only: 0600
    with os.fdopen(handle, "w") as file:
        file.write(PAGE.format(link=escape(link)))
    os.replace(new, path)
    return path
