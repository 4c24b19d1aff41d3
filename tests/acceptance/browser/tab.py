"""A browser tab that collects everything that should not have happened in it."""

from __future__ import annotations

import asyncio
import re
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request

from tests.acceptance.browser.login import logged_in
from tests.acceptance.browser.own_user import OwnUser
from tests.acceptance.browser.proxy import Proxy
from tests.server import ServerProcess

Place = ServerProcess | OwnUser | Proxy

HEIGHT = 800
PATIENCE_MS = 40_000
COPIED = """() => [...document.querySelectorAll("button")]
    .some((each) => each.textContent.trim() === "Copied")"""


class Tab:
    def __init__(self, context: BrowserContext, page: Page, server: Place) -> None:
        self.context = context
        self.page = page
        self.server = server
        self.problems: list[str] = []
        self.expected: list[str] = []
        """Parts of console messages that this test brings about on purpose."""

    @classmethod
    async def open(cls, browser: Browser, server: Place, at: str, width: int) -> Tab:
        context = await browser.new_context(
            viewport={"width": width, "height": HEIGHT},
            timezone_id="Europe/Berlin",
            locale="en-GB",
            storage_state=await logged_in(server),
        )
        context.set_default_timeout(PATIENCE_MS)
        tab = cls(context, await context.new_page(), server)
        tab.page.on("console", tab._on_console)
        tab.page.on("pageerror", lambda error: tab.problems.append(f"error: {error}"))
        tab.page.on("request", tab._on_request)
        await tab.go(at)
        return tab

    async def go(self, at: str) -> None:
        await self.page.goto(f"{self.server.address}/{at}")

    async def session(self, session_id: str) -> None:
        await self.go(f"#/sessions/{session_id}")
        await self.page.get_by_label("Message", exact=True).wait_for()

    async def send(self, text: str) -> None:
        await self.page.get_by_label("Message", exact=True).fill(text)
        await self.page.keyboard.press("Enter")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    async def copy(self, name: str) -> None:
        """Press a copy button. Its confirmation is brief, so start watching before the click."""
        confirmation = asyncio.create_task(self.page.wait_for_function(COPIED))
        await self.button(name).click()
        await confirmation

    async def plant_index(self, state: dict[str, Any]) -> None:
        """What `GET /index` answers in this tab."""
        await self.page.route("**/index", lambda route: route.fulfill(json=state))

    @property
    def conversation(self) -> Locator:
        return self.page.get_by_role("log")

    async def text(self) -> str:
        return await self.conversation.inner_text()

    async def close(self) -> None:
        await self.context.close()

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        if not any(re.search(part, message.text) for part in self.expected):
            self.problems.append(f"{message.type}: {message.text}")

    def _on_request(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.server.address).netloc:
            self.problems.append(f"a request left the server: {request.url}")
