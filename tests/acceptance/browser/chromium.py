"""The browser that is installed on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, async_playwright

# The shell has no windows to draw, and takes half the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@asynccontextmanager
async def chromium(home: Path) -> AsyncIterator[Browser]:
    """Launched with a private home, so nothing of the user's is read or written."""
    executable = next((path for name in NAMES if (path := shutil.which(name))), None)
    assert executable, "there is no Chromium: `make test` installs Debian's, or put one on the PATH"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable,
            env={**os.environ, "HOME": str(home)},
            args=["--disable-dev-shm-usage"],
        )
        yield browser
        await browser.close()
