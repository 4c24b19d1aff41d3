"""A real browser on a real server. A console error or a request to another host fails the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.acceptance.browser.chromium import chromium
from tests.acceptance.browser.own_user import OwnUser
from tests.acceptance.browser.tab import PATIENCE_MS, Place, Tab
from tests.server import Client, ServerProcess

# Generous: browsers are slow on a loaded machine, and only a failing test waits this long.
expect.set_options(timeout=PATIENCE_MS)

OpenTab = Callable[..., Awaitable[Tab]]

in_browser = pytest.mark.asyncio(loop_scope="session")
"""One loop for all of a worker's browser tests, because they share the browser."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    async with chromium(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Shared by all tests of a worker that do not need a server of their own."""
    home = tmp_path_factory.mktemp("browser-server")
    with ServerProcess(home, settings=private_settings(home)) as server:
        yield server


@pytest.fixture
def own_servers() -> Iterator[ExitStack]:
    """Stopped after the tabs are closed, because an open tab would report the loss."""
    with ExitStack() as servers:
        yield servers


@pytest.fixture
def own_server(tmp_path: Path, own_servers: ExitStack) -> ServerProcess:
    """For tests that stop it, or do something to all of its users."""
    home = tmp_path / "own-server"
    return own_servers.enter_context(ServerProcess(home, settings=private_settings(home)))


@pytest_asyncio.fixture(loop_scope="session")
async def own_user(server: ServerProcess) -> OwnUser:
    """For tests that need an empty page, which costs less than a server of their own."""
    return await OwnUser.add(server)


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: ServerProcess) -> AsyncIterator[Client]:
    async with server.client() as client:
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def open_tab(
    browser: Browser, server: ServerProcess, own_servers: ExitStack
) -> AsyncIterator[OpenTab]:
    """Opens tabs that are logged in, and checks them for errors at the end."""
    tabs: list[Tab] = []

    async def open_one(at: str = "", *, on: Place = server, width: int = 1280) -> Tab:
        tab = await Tab.open(browser, on, at, width)
        tabs.append(tab)
        return tab

    yield open_one
    for tab in tabs:
        await tab.close()
    problems = [problem for tab in tabs for problem in tab.problems]
    assert problems == []


def private_settings(home: Path) -> dict[str, str]:
    """The scripted model, with a private index and private agent files."""
    return {
        "NAVI_MODEL": "scripted",
        "RECALL_DATA_DIR": str(home / "recall"),
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
        "CODEX_HOME": str(home / "codex"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
    }
