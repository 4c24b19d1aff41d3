"""Opens a login link in the person's browser."""

from __future__ import annotations

import os
import sys
import tempfile
from html import escape
from pathlib import Path

from navi.base.platform import has_desktop, open_page

PAGE_FILE = "open-page.html"
PAGE = """\
<!doctype html>
<title>Navi</title>
<meta http-equiv="refresh" content="0; url={link}">
"""


def can_open() -> bool:
    """Whether this is a terminal on a machine with a desktop."""
    return sys.stdout.isatty() and has_desktop()


def open_link(link: str, home: Path) -> None:
    """Open the link through a private file: every user of the machine can see command lines."""
    open_page(forwarding_page(link, home).as_uri())


def forwarding_page(link: str, home: Path) -> Path:
    """Write a private page that forwards to the link."""
    path = home / PAGE_FILE
    handle, draft = tempfile.mkstemp(prefix=".open-page-", dir=home)  # only its owner can read it
    with os.fdopen(handle, "w") as file:
        file.write(PAGE.format(link=escape(link)))
    os.replace(draft, path)
    return path
